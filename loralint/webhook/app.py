"""The HTTP side: paths, sizes, deadlines and status codes."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from loralint.webhook.admission import Admission
from loralint.webhook.decision import MODES
from loralint.webhook.metrics import CONTENT_TYPE, Metrics
from loralint.webhook.review import BadReviewError

# An UPDATE of the largest ConfigMap has 2 MiB; the server takes 3 MiB of any object, which comes twice.
BODY_LIMIT = 8 * 1024 * 1024
# Seconds that the API server waits where it does not say, and those that the answer needs on its way.
_TIMEOUT, _MARGIN = 3.0, 0.7
# Bodies of more bytes than a usual review has, and how many of them are held at the same time: the rest wait unread,
# so that no number of senders fills the memory.
_USUAL, _LARGE = 128 * 1024, 16
_DURATION = re.compile(r"(?:(\d{1,4})m)?(?:(\d{1,4}(?:\.\d{1,9})?)s)?(?:(\d{1,6})ms)?")

Reason = Callable[[], str]
Answer = Callable[[bytes, float], Awaitable[dict[str, Any]]]


def seconds_of(timeout: str) -> float:
    """The time to judge of `?timeout=3s`, as Go writes durations."""
    match = _DURATION.fullmatch(timeout)
    given = _TIMEOUT
    if match is not None and match[0]:
        minutes, seconds, milliseconds = (float(one or 0) for one in match.groups())
        given = 60 * minutes + seconds + milliseconds / 1000
    return max(min(given, 30.0) - _MARGIN, given / 2 if given < 2 * _MARGIN else 0.0, 0.1)


def admission_app(admission: Admission, unready: Reason, closing: Callable[[], bool]) -> Starlette:
    """The endpoints of the API server. unready: why no more reviews are wanted; closing: whether connections end."""
    large = asyncio.Semaphore(_LARGE)

    def validating(mode: str) -> Route:
        async def answer(body: bytes, seconds: float) -> dict[str, Any]:
            return await admission.validate(body, mode, seconds)

        return Route(f"/validate/{mode}" if mode else "/validate", _endpoint(answer, large, closing), methods=["POST"])

    return Starlette(
        routes=[
            *(validating(mode) for mode in ("", *MODES)),
            Route("/mutate", _endpoint(admission.mutate, large, closing), methods=["POST"]),
            *_health(unready),
        ]
    )


def metrics_app(metrics: Metrics, unready: Reason) -> Starlette:
    """The endpoints of Prometheus and of the kubelet, without TLS."""

    async def text(request: Request) -> Response:
        del request
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    return Starlette(routes=[Route("/metrics", text), *_health(unready)])


def _health(unready: Reason) -> list[Route]:
    async def alive(request: Request) -> Response:
        del request
        return PlainTextResponse("ok")

    async def ready(request: Request) -> Response:
        del request
        why = unready()
        return PlainTextResponse(why or "ok", 503 if why else 200)

    return [Route("/healthz", alive), Route("/readyz", ready)]


def _endpoint(
    answer: Answer, large: asyncio.Semaphore, closing: Callable[[], bool]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        headers = {"connection": "close"} if closing() else None  # so that nobody writes into one that is about to end
        try:
            async with contextlib.AsyncExitStack() as held:
                until = monotonic() + seconds_of(request.query_params.get("timeout", ""))
                async with asyncio.timeout(until - monotonic()):
                    body = await _body(request, large, held)
                if body is None:
                    return PlainTextResponse("the review is too large", 413, {"connection": "close"})
                return JSONResponse(await answer(body, until - monotonic()), headers=headers)
        except BadReviewError as error:
            return PlainTextResponse(str(error), 400, headers)
        except (ClientDisconnect, TimeoutError):
            return PlainTextResponse("the review did not come whole", 400, {"connection": "close"})

    return endpoint


async def _body(request: Request, large: asyncio.Semaphore, held: contextlib.AsyncExitStack) -> bytes | None:
    """What was sent, None where it is too much. held: keeps the place of a large one until it is answered."""
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told[:12]) > BODY_LIMIT:
        return None
    parts, size = [], 0
    async for part in request.stream():
        if size <= _USUAL < size + len(part):
            await held.enter_async_context(large)
        size += len(part)
        if size > BODY_LIMIT:
            return None
        parts.append(part)
    return b"".join(parts)
