"""A bound on what is answered at a time, and the count of what it keeps away."""

from __future__ import annotations

import asyncio

import httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from loralint.webhook.connections import CONNECTIONS
from loralint.webhook.crowd import Crowd
from loralint.webhook.metrics import Metrics

MORE = 150


def test_who_finds_no_place_is_told_so_and_counted():
    metrics = Metrics()

    async def run():
        free, refused = asyncio.Event(), []

        async def wait(request):
            await free.wait()
            return PlainTextResponse("ok")

        crowd = Crowd(Starlette(routes=[Route("/", wait)]), metrics.refused.inc)
        limits = httpx.Limits(max_connections=None)
        transport = httpx.ASGITransport(app=crowd)
        async with httpx.AsyncClient(transport=transport, base_url="https://x", limits=limits, timeout=60) as client:
            asked = [asyncio.ensure_future(client.get("/")) for _ in range(CONNECTIONS + MORE)]
            for one in asyncio.as_completed(asked):
                refused.append((await one).status_code)
                if len(refused) == MORE - 100:
                    break
            free.set()
            answers = [one.status_code for one in await asyncio.gather(*asked)]
            return answers, (await client.get("/")).status_code

    answers, after = asyncio.run(run())
    assert answers.count(503) == MORE - 100
    assert set(answers) == {200, 503}
    assert after == 200
    assert f"loralint_refused_total {MORE - 100}.0" in metrics.text().decode()
