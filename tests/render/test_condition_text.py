from __future__ import annotations

import pytest

from loralint.authoring.conditions import ORIGIN_TESTS, normal
from loralint.checks.conditions import OPERATORS
from loralint.render.condition_text import in_words


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"adapter.rank": 8}, "adapter.rank is 8"),
        ({"precision.bf16": True, "gpu.bf16": False}, "precision.bf16 is true and gpu.bf16 is false"),
        ({"optim.family": ["adam", "adamw", "lion"]}, "optim.family is adam, adamw or lion"),
        ({"optim.lr": {"gt": 0, "le": 2e-4}}, "optim.lr is above 0 and optim.lr is at most 0.0002"),
        ({"eval.steps": {"ne": {"field": "checkpoint.save_steps"}}}, "eval.steps is not checkpoint.save_steps"),
        ({"adapter.alpha": {"set": False}}, "adapter.alpha is not written"),
        ({"adapter.alpha": {"absent": True}}, "adapter.alpha has no value"),
        ({"adapter.init": {"matches": "^pissa"}}, "adapter.init matches `^pissa`"),
        ({"adapter.rank": {"between": [1, 64]}}, "adapter.rank is between 1 and 64"),
        ({"adapter.targets": {"type": "list"}}, "adapter.targets is of type list"),
        ({"hit.effect": "crash"}, "effect is crash"),
        (
            {"lora.on": True, "any": [{"quant.bits": 4}, {"not": {"quant.on": True}}]},
            "lora.on is true and (quant.bits is 4 or not (quant.on is true))",
        ),
    ],
)
def test_a_condition_in_words(condition, words):
    assert in_words(normal(condition)) == words


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_every_operator_has_words(operator):
    right = True if operator in ORIGIN_TESTS else [1, 2]
    assert in_words([operator, "adapter.rank", right]).startswith("adapter.rank ")
