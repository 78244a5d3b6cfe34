"""A number outside of fixed bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.conditions import argument
from loralint.checks.hit import Hit, place
from loralint.facts.scope import Scope, number
from loralint.model import Unknown


def within(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: field; min and max (inclusive) or above and below (exclusive); suggest. Text and null are no numbers."""
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    amount = number(value)
    if amount is None:
        return []
    low, high = args.get("min", args.get("above")), args.get("max", args.get("below"))
    too_low = low is not None and (amount < low or (amount == low and "above" in args))
    too_high = high is not None and (amount > high or (amount == high and "below" in args))
    if not too_low and not too_high:
        return []
    suggest = argument(args["suggest"], scope) if "suggest" in args else low if too_low else high
    data = {"bound": low if too_low else high, "side": "low" if too_low else "high", "min": low, "max": high}
    where = value if value.span or not at else place(scope, (args["field"], *at))
    return [Hit(where, data, suggest)]
