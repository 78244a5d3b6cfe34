"""Whatever is sent: a well-formed answer with the right uid, or 400 or 413; never a value of another's map."""

from __future__ import annotations

import asyncio
import copy
import json

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.webhook.reviews import BAD, GOOD, config_map, flags, job, lending, referring, review

CANARY = "canary-0f3b"
SEEDS = [
    review(config_map(BAD)),
    review(config_map(GOOD), old=config_map(BAD)),
    review(job()),
    review(flags("--lora_r", "0")),
    review(referring("TrainJob", runtimeRef={"name": "torch"}, trainer={"numNodes": 1})),
    review(referring("Workflow", workflowTemplateRef={"name": "lora"})),
    review(job(suspend=True), old=job(suspend=True, selector={"a": "b"})),
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


def _paths(node, at=()):
    yield at
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from _paths(value, (*at, key))


@st.composite
def mutated(draw):
    """A review of which a place or two say something else, or nothing."""
    made = copy.deepcopy(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from([one for one in _paths(made) if one]))
        node = made
        for key in path[:-1]:
            node = node[key]
        if draw(st.booleans()):
            node[path[-1]] = draw(JUNK)
        else:
            del node[path[-1]]
    return made


@pytest.fixture(scope="module")
def post(judging_job):
    from loralint.webhook.admission import Admission, Policy
    from loralint.webhook.app import admission_app
    from loralint.webhook.log import Log
    from loralint.webhook.lookup import Lookup
    from loralint.webhook.metrics import Metrics
    from tests.webhook.inline import Inline

    async def get(namespace, wanted):
        if wanted.kind != "ConfigMap":
            return lending(wanted.kind, CANARY)
        return {"data": {"train.yaml": f"{BAD}{CANARY}: {CANARY}\nbase_model_config: {CANARY}\n", CANARY: CANARY}}

    def sent(content, path):
        async def run():
            admission = Admission(
                Policy(mutate=True, pods=True), Inline(judging_job, pods=True), Lookup(get), metrics=Metrics(),
                log=Log("error"),
            )  # fmt: skip
            app = admission_app(admission, lambda: "", lambda: False)
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="https://x") as client:
                return await client.post(path, content=content)

        return asyncio.run(run())

    return sent


PATHS = st.sampled_from(["/validate/enforce?timeout=3s", "/validate/warn", "/validate?timeout=nonsense", "/mutate"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated(), PATHS)
def test_a_mutated_review_is_answered_or_refused(post, capsys, made, path):
    answer = post(json.dumps(made).encode("utf-8", "surrogatepass"), path)
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        said = answer.json()
        assert (said["apiVersion"], said["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
        assert said["response"]["uid"] == made["request"]["uid"]
        assert isinstance(said["response"]["allowed"], bool)
        assert CANARY not in answer.text
        assert "internal error" not in answer.text
    assert CANARY not in capsys.readouterr().out


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), PATHS)
def test_bytes_are_refused(post, content, path):
    assert post(content, path).status_code == 400


@given(st.text(max_size=20))
def test_a_deadline_is_some_time(text):
    from loralint.webhook.app import seconds_of

    assert 0.1 <= seconds_of(text) <= 30


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("3s", 2.3), ("10s", 9.3), ("1m0s", 29.3), ("500ms", 0.25), ("", 2.3), ("x", 2.3), ("1s", 0.5)],
)
def test_the_deadline_leaves_time_for_the_way_back(given, seconds):
    from loralint.webhook.app import seconds_of

    assert seconds_of(given) == pytest.approx(seconds)
