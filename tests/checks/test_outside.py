"""One look at a value that settles a template with bounds: it never passes over what the template would tell."""

from __future__ import annotations

import pytest

from loralint.checks import golden, values
from loralint.model import Unknown, Value


@pytest.mark.parametrize(
    ("bounds", "inside", "beyond"),
    [
        ({"min": 0, "below": 1}, [0, 0.999], [-1, 1, 1.5]),
        ({"above": 0}, [1e-9, float("inf")], [0, -0.1]),
        ({"max": 2}, [-5, 2], [2.1]),
    ],
)
def test_a_number_between_its_bounds_is_settled(bounds, inside, beyond):
    field, may_speak = values.outside({"field": "optim.beta1", **bounds})
    assert field == "optim.beta1"
    assert not any(may_speak(Value(one)) for one in [*inside, None, "0", True, [3]])
    assert all(may_speak(Value(one)) for one in [*beyond, Unknown("filled in later")])


def test_a_value_within_every_entry_of_the_golden_list_is_settled():
    field, may_speak = golden.outside({"parameter": "adapter.dropout", "side": "above"})
    assert field == "adapter.dropout"
    assert not any(may_speak(Value(one)) for one in [0, 0.05, None, "x"])
    assert all(may_speak(Value(one)) for one in [1, 2.5, Unknown("filled in later")])


def test_rules_of_one_parameter_share_the_look():
    assert golden.outside({"parameter": "lora.E", "side": "above"}) == golden.outside({"parameter": "lora.E"})
