"""Two values that must stand in a relation and do not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from loralint.checks.conditions import argument, compare
from loralint.checks.hit import Hit, place
from loralint.facts.scope import Scope
from loralint.model import Unknown


def compared(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: left (field), op, right (literal or {field}), suggest. Fires when `left op right` is false."""
    left = scope.get(args["left"])
    right = argument(args["right"], scope)
    if left.value is None or right is None:
        return []
    truth = compare(args["op"], left.value, right)
    if isinstance(truth, Unknown):
        return truth
    if truth:
        return []
    suggest = argument(args["suggest"], scope) if "suggest" in args else _nearest(args["op"], left.value, right)
    other = args["right"]
    related = ((scope.get(other["field"]), "is what it has to fit"),) if isinstance(other, dict) else ()
    where = left if left.span or not at else place(scope, (args["left"], *at))
    return [Hit(where, {"left": left.value, "right": right}, suggest, related=related)]


def _nearest(operator: str, left: Any, right: Any) -> object:
    """A value close to `left` that stands in the relation, where there is an obvious one."""
    if operator in {"eq", "le", "ge"}:
        return right
    if operator == "multiple_of" and isinstance(left, int) and isinstance(right, int) and right > 0:
        return max(1, math.ceil(left / right)) * right
    return None
