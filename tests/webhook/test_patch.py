"""Small faults mended on the way in: the key's text alone, once, and never against GitOps."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.webhook.reviews import BAD, GOOD, body, config_map

# The spelling of an older release, which has a safe fix of tier B.
OLD = GOOD.replace(
    "sequence_len: 1024", "sequence_len: 1024  # as long as our texts\nevaluation_strategy: steps\neval_steps: 20"
)


def _steps(response):
    assert response["patchType"] == "JSONPatch"
    return json.loads(base64.b64decode(response["patch"]))


def _applied(data, response):
    steps = _steps(response)
    data = dict(data)
    for step in steps:
        key = step["path"].removeprefix("/data/").replace("~1", "/").replace("~0", "~")
        assert step["op"] == "replace"
        assert key in data
        data[key] = step["value"]
    return data


def _mutate(ask, obj, **given):
    return ask(body(obj, **given), hook="mutate", mutate=True)


def test_a_small_fault_is_mended_and_every_other_line_stays(ask):
    obj = config_map(OLD)
    response = _mutate(ask, obj)
    assert response["allowed"] is True
    assert [step["op"] for step in _steps(response)] == ["replace"]
    mended = _applied(obj["data"], response)["train.yaml"]
    assert mended == OLD.replace("evaluation_strategy: steps", "eval_strategy: steps")
    assert response["warnings"] == ["loralint: ConfigMap/train: fixed on the way in: LL103 in train.yaml"]


def test_a_byte_order_mark_stays_where_it_is(ask):
    obj = config_map("\ufeff" + OLD)
    mended = _applied(obj["data"], _mutate(ask, obj))["train.yaml"]
    assert mended == "\ufeff" + OLD.replace("evaluation_strategy: steps", "eval_strategy: steps")


def test_what_is_mended_is_not_mended_again(ask):
    obj = config_map(OLD)
    obj["data"] = _applied(obj["data"], _mutate(ask, obj))
    assert "patch" not in _mutate(ask, obj)


def test_grave_faults_are_left_to_their_author(ask):
    assert "patch" not in _mutate(ask, config_map(BAD))


@pytest.mark.parametrize(
    "meta",
    [
        {"labels": {"app.kubernetes.io/managed-by": "Helm"}},
        {"annotations": {"argocd.argoproj.io/tracking-id": "a"}},
        {"labels": {"kustomize.toolkit.fluxcd.io/name": "a"}},
    ],
)
def test_what_a_program_keeps_as_a_repository_has_it_is_left_alone(ask, meta):
    obj = config_map(OLD)
    obj["metadata"] |= meta
    assert "patch" not in _mutate(ask, obj)


def test_only_new_maps_are_mended(ask):
    assert "patch" not in _mutate(ask, config_map(OLD), old=config_map(GOOD))


def test_off_by_default(ask):
    assert "patch" not in ask(body(config_map(OLD)), hook="mutate")


def test_a_manifest_in_a_map_is_no_config(ask):
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: t}\nspec: {template: {spec: {containers: []}}}\n"
    assert "patch" not in _mutate(ask, config_map(job))


@pytest.mark.parametrize("key", ["../../etc/x.yaml", "..x.yaml", "a/b.yaml", ""])
def test_a_key_that_no_map_can_have_is_not_looked_at(ask, key):
    assert "patch" not in _mutate(ask, config_map(OLD, key=key))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.sampled_from(
            ["evaluation_strategy: steps", "eval_steps: 20", "bf16: true", "lora_r: 8", "lora_dropout: 0.05", "# word",
             "", "tf32: 'yes'", "learning_rate: 2e-4", "learning_rate: '0.0002'", "gradient_checkpointing: true",
             "early_stopping_patience: 3", "saves_per_epoch: 1", "save_steps: 7"]
        ),
        max_size=8,
    )
)  # fmt: skip
def test_mending_twice_is_mending_once(ask, lines):
    obj = config_map(GOOD + "\n".join(lines) + "\n")
    response = _mutate(ask, obj)
    if "patch" in response:
        obj["data"] = _applied(obj["data"], response)
        assert "patch" not in _mutate(ask, obj)
