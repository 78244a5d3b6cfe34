"""What an observation advises, and settings that hide one another."""

from __future__ import annotations

import pytest

from loralint.checks.observation import observed
from loralint.facts.scope import Scope
from loralint.model import Observation, Value


class Nothing:
    """Settings of a run that has none."""

    def get(self, field: str) -> Value:
        return Value(None, origin="absent", field=field)


def hit(kind: str = "removed", **given: str):
    observation = Observation(kind, Value("x", key="old"), "crash", "it is gone", **given)
    return observed(Scope(Nothing(), {}, (observation,)), {"kind": kind}, ())[0]


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"replacement": "new", "rewrite": "key"}, "write `new` instead of `old`"),
        ({"replacement": "new: 3"}, "write `new: 3` instead of `old`"),
        ({"replacement": "3", "rewrite": "value"}, "write `old: 3`"),
        ({"kind": "rejected", "replacement": "3"}, "write `old: 3`"),
        ({"kind": "rejected", "replacement": "new", "rewrite": "key"}, "write `new` instead of `old`"),
        ({"rewrite": "remove"}, "remove the line of `old`"),
        ({}, "change `old`, or remove its line"),
    ],
)
def test_the_advice_says_what_to_write(given, advice):
    assert hit(**given).data["advice"] == advice
