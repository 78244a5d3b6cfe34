"""Workers that are ended, that end, and that others take the place of, while somebody asks."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

from loralint.webhook import pool
from loralint.webhook.judging import Task
from loralint.webhook.objects import lent, manifest
from loralint.webhook.pool import Pool, Unjudged
from loralint.webhook.references import Wanted
from loralint.webhook.review import BadReviewError
from loralint.webhook.wire import Options
from tests.webhook.reviews import BAD, GOOD, body, config_map, lending, referring
from tests.webhook.server import workers_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes by /proc")

SMALL = Task(manifest(config_map(BAD)))
LARGE = Task(manifest(config_map(GOOD + "".join(f"k{number}: [{number}]\n" for number in range(15_000)))))


def _run(use, workers=1):
    ended = []

    async def run():
        opened = Pool(workers, Options(), ended.append)
        await opened.open()
        try:
            return await use(opened)
        finally:
            await opened.close()

    return asyncio.run(run()), ended


def test_workers_are_renewed_without_a_lost_task(monkeypatch):
    monkeypatch.setattr(pool, "_MOST_TASKS", 5)

    async def use(opened):
        first, found = set(workers_of(os.getpid())), []
        assert len(first) == 2
        while len(first & set(workers_of(os.getpid()))) == 2:
            found += await asyncio.gather(*(opened.judge(SMALL, 30) for _ in range(4)))
        return found

    found, ended = _run(use)
    assert {one.findings[0].rule for one in found} == {"LL304"}
    assert set(ended) == {"recycled"}


def test_what_takes_too_long_is_ended_and_the_next_is_judged():
    async def use(opened):
        with pytest.raises(Unjudged) as late:
            await opened.judge(LARGE, 0.05)
        return late.value.reason, await opened.judge(Task(SMALL.text + " " * pool.QUICK), 60)

    (reason, judged), ended = _run(use)
    assert reason == "deadline"
    assert judged.findings[0].rule == "LL304"
    assert ended == ["deadline"]


def test_more_than_can_be_done_is_answered_at_once():
    async def use(opened):
        several = [opened.judge(LARGE, 3) for _ in range(12)]
        return await asyncio.gather(*several, return_exceptions=True)

    found, _ = _run(use)
    busy = [one for one in found if isinstance(one, Unjudged)]
    assert sum(one.reason == "busy" for one in busy) >= 7  # one is judged and four wait


def test_a_large_review_is_read_by_a_worker():
    async def use(opened):
        request = await opened.read(body(config_map(BAD)), 60)
        with pytest.raises(BadReviewError, match="not JSON"):
            await opened.read(b"\xff{", 60)
        return request

    request, ended = _run(use)
    assert request.head.kind == "ConfigMap"
    assert json.loads(request.text)["data"] == {"train.yaml": BAD}
    assert request.data == {"train.yaml": BAD}
    assert ended == []


def test_what_a_job_refers_to_comes_to_a_worker_and_back():
    job = referring("TrainJob", runtimeRef={"name": "torch"}, trainer={"numNodes": 1})
    runtime = lending("ClusterTrainingRuntime", "any") | {
        "apiVersion": job["apiVersion"], "kind": "ClusterTrainingRuntime", "metadata": {"name": "torch"},
    }  # fmt: skip

    async def use(opened):
        request = await opened.read(body(job), 60)
        return request.referred, await opened.judge(Task(request.text, "", (), (lent(runtime),)), 60)

    (referred, judged), _ = _run(use)
    assert referred == (Wanted("trainer.kubeflow.org", "v1alpha1", "ClusterTrainingRuntime", "torch"),)
    assert "LL304" in {one.rule for one in judged.findings}
    assert {one.place for one in judged.findings} == {"ClusterTrainingRuntime/torch"}


def test_a_map_is_mended_by_a_worker():
    async def use(opened):
        return await opened.patch({"train.yaml": GOOD + "evaluation_strategy: steps\neval_steps: 20\n"}, 60)

    made, _ = _run(use)
    assert made.rules == ("LL103",)
    assert "eval_strategy: steps" in made.texts["train.yaml"]
