from __future__ import annotations

import pytest

from loralint.authoring.conditions import conjunction, names, normal


@pytest.mark.parametrize(
    ("authored", "compiled"),
    [
        ({"adapter.rank": 8}, ["eq", "adapter.rank", 8]),
        ({"lora.on": True}, ["eq", "lora.on", True]),
        ({"optim.family": ["adamw", "adam"]}, ["in", "optim.family", ["adamw", "adam"]]),
        ({"optim.lr": {"gt": 0, "lt": 1}}, ["all", ["gt", "optim.lr", 0], ["lt", "optim.lr", 1]]),
        ({"item": {"matches": "^q_"}}, ["matches", "item", "^q_"]),
        ({"adapter.alpha": {"field": "adapter.rank"}}, ["eq", "adapter.alpha", {"field": "adapter.rank"}]),
        (
            {"eval.steps": {"gt": {"field": "steps.total"}}},
            ["gt", "eval.steps", {"field": "steps.total"}],
        ),
        ({"not": {"optim.lr": {"set": True}}}, ["not", ["set", "optim.lr", True]]),
        (
            {"any": [{"adapter.rank": 1}, {"adapter.rank": 2, "adapter.alpha": 3}]},
            ["any", ["eq", "adapter.rank", 1], ["all", ["eq", "adapter.rank", 2], ["eq", "adapter.alpha", 3]]],
        ),
        ({"all": [{"adapter.rank": 1}]}, ["eq", "adapter.rank", 1]),
        ({"hit.side": "low"}, ["eq", "hit.side", "low"]),
    ],
)
def test_normal_form(authored, compiled):
    assert normal(authored) == compiled


@pytest.mark.parametrize(
    ("authored", "fault"),
    [
        ({}, "a condition is a mapping"),
        ("adapter.rank > 3", "a condition is a mapping"),
        ({"adapter.rnak": 8}, "is adapter.rank meant"),
        ({"adapter.rank": {"greater": 8}}, "no operator 'greater'"),
        ({"adapter.rank": {}}, "says nothing"),
        ({"adapter.rank": None}, "write absent: true"),
        ({"adapter.rank": {"gt": "8"}}, "a number"),
        ({"adapter.rank": {"gt": True}}, "a number"),
        ({"adapter.rank": {"between": [8, 2]}}, "low, high"),
        ({"adapter.rank": {"in": 8}}, "a list"),
        ({"adapter.rank": []}, "a list"),
        ({"adapter.rank": {"set": 1}}, "true or false"),
        ({"adapter.rank": {"set": {"field": "optim.lr"}}}, "takes a literal"),
        ({"model.base": {"matches": "["}}, "regular expression"),
        ({"model.base": {"type": "string"}}, "one of str"),
        ({"adapter.rank": {"lt": {"field": "nowhere.to.be"}}}, "no canonical field"),
        ({"any": {"adapter.rank": 1}}, "takes a list"),
        ({"not": [{"adapter.rank": 1}]}, "a condition is a mapping"),
    ],
)
def test_faults_say_what_is_wrong(authored, fault):
    with pytest.raises(ValueError, match=fault):
        normal(authored)


def test_a_conjunction_is_flat():
    assert conjunction([["eq", "item", 1]]) == ["eq", "item", 1]
    assert conjunction([["in", "item", [1]], ["all", ["eq", "item", 1], ["eq", "item", 2]]]) == [
        "all", ["in", "item", [1]], ["eq", "item", 1], ["eq", "item", 2],
    ]  # fmt: skip


def test_names_of_a_condition():
    condition = normal({"any": [{"adapter.rank": {"gt": {"field": "adapter.alpha"}}}, {"not": {"lora.on": True}}]})
    assert names(condition) == {"adapter.rank", "adapter.alpha", "lora.on"}
