"""Settings that two programs read."""

from __future__ import annotations

import pytest

from loralint.checks.pairs import differ
from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.model import Span, Unknown, Value

PAIRS = {"pairs": {"dist.ds_accumulation": "batch.accumulation", "dist.ds_lr": "optim.lr"}}
SPAN = Span("c.yaml", 0, 1, 1, 1, 1, 2)


class Values:
    """Values by field; those in `written` have a place."""

    def __init__(self, values: dict[str, object], written: tuple[str, ...]) -> None:
        self._values, self._written = values, written

    def get(self, field: str) -> Value:
        if field not in self._values:
            return Value(None, "absent", field=field)
        return Value(self._values[field], key=field, field=field, span=SPAN if field in self._written else None)


def hits(values: dict[str, object], *written: str) -> object:
    found = differ(Scope(Values(values, written), FACTS), PAIRS, ())
    return found if isinstance(found, Unknown) else [(hit.at.key, dict(hit.data)) for hit in found]


def test_each_pair_that_differs_is_a_hit() -> None:
    given = {"dist.ds_accumulation": 4, "batch.accumulation": 8, "dist.ds_lr": 1e-4, "optim.lr": 2e-4}
    assert hits(given, "batch.accumulation") == [
        ("dist.ds_accumulation", {"left": 4, "right": 8, "other": "batch.accumulation", "written": True}),
        ("dist.ds_lr", {"left": 1e-4, "right": 2e-4, "other": "optim.lr", "written": False}),
    ]


@pytest.mark.parametrize("right", [8, 8.0, None, "auto", True])
def test_what_is_equal_absent_or_of_another_kind_is_none(right: object) -> None:
    assert hits({"dist.ds_accumulation": 8, "batch.accumulation": right}) == []


def test_what_is_filled_in_later_is_unknown_unless_another_pair_differs() -> None:
    later = {"dist.ds_accumulation": 8, "batch.accumulation": Unknown("later")}
    assert hits(later) == Unknown("later")
    found = hits({**later, "dist.ds_lr": 1e-4, "optim.lr": 2e-4})
    assert isinstance(found, list)
    assert [key for key, _ in found] == ["dist.ds_lr"]
