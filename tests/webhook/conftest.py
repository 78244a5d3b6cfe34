from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(scope="session")
def judging_job():
    from loralint.webhook.judging import webhook_job

    return webhook_job()


@pytest.fixture
def ask(judging_job):
    """Ask the handler itself, by bytes; it judges in this process."""
    from loralint.webhook.admission import Admission, Policy
    from loralint.webhook.log import Log
    from loralint.webhook.lookup import Lookup
    from loralint.webhook.metrics import Metrics
    from tests.webhook.inline import Inline

    def asked(sent, *, mode="enforce", hook="validate", maps=None, judge=None, metrics=None, seconds=3.0, **policy):
        async def get(namespace, wanted):
            return maps.get((namespace, wanted.name), 404)

        async def run():
            admission = Admission(
                Policy(**policy), judge or Inline(judging_job, pods=policy.get("pods", False)),
                Lookup(get) if maps is not None else None, metrics=metrics or Metrics(), log=Log(),
            )  # fmt: skip
            if hook == "mutate":
                return await admission.mutate(sent, seconds)
            return await admission.validate(sent, mode, seconds)

        return asyncio.run(run())["response"]

    return asked
