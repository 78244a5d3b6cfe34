from __future__ import annotations

import pytest

from loralint.model import Unknown


@pytest.mark.parametrize(
    ("targets", "kind", "names"),
    [
        (["q_proj", "v_proj"], "list", ["q_proj", "v_proj"]),
        ([], "none", []),
        ("all-linear", "all-linear", []),
        ("All-Linear", "all-linear", []),
        (".*_proj", "regex", []),
        ("q_proj,v_proj", "regex", []),
        (["all-linear"], "list", ["all-linear"]),
        (None, "default", []),
    ],
)
def test_kinds_of_targets(fact, targets, kind, names):
    values = {"adapter.method": "lora", "adapter.targets": targets}
    assert fact("targets.kind", values) == kind
    assert fact("targets.names", values) == names


def test_without_lora_there_are_no_targets(fact):
    assert fact("targets.kind", {"adapter.method": "full"}) == "none"


def test_unknown_targets_stay_unknown(fact):
    values = {"adapter.method": "lora", "adapter.targets": Unknown("set by ${TARGETS}")}
    assert fact("targets.kind", values) == fact("targets.names", values) == ("set by ${TARGETS}",)


@pytest.mark.parametrize(
    ("task", "group"),
    [("sft", "sft"), ("pt", "sft"), ("dpo", "preference"), ("KTO", "preference"), ("orpo", "preference"),
     ("grpo", "rl"), ("ppo", "rl"), ("rm", "other"), ("cls", "other"), ("kd", "other")],
)  # fmt: skip
def test_task_groups(fact, task, group):
    assert fact("task.group", {"train.task": task}) == group


def test_no_task_is_unknown(fact):
    assert fact("task.group", {}) == ("the config does not say what it trains for",)


@pytest.mark.parametrize(
    ("values", "trains"),
    [
        ({}, False),
        ({"adapter.targets": "all-linear"}, False),  # linear layers only
        ({"adapter.targets": ["q_proj", "model.embed_tokens"]}, True),
        ({"adapter.modules_to_save": ["lm_head"]}, False),
        ({"adapter.modules_to_save": ["transformer.wte", "lm_head"]}, True),
        ({"adapter.modules_to_save": ["word_embeddings"]}, True),
        ({"adapter.trainable_tokens": [32000]}, True),
    ],
)
def test_whether_the_embedding_trains(fact, values, trains):
    assert fact("targets.embedding", values) is trains


@pytest.mark.parametrize(
    ("given", "layers"),
    [
        (None, False),
        (["mlp.experts.gate_up_proj"], False),
        (["v_proj.weight", "mlp.experts.down_proj"], False),
        (["v_proj.weight"], True),
        ("v_proj.weight", True),
    ],
)
def test_whether_parameters_are_those_of_layers(fact, given, layers):
    assert fact("targets.parameters_of_layers", {"adapter.target_parameters": given}) is layers
