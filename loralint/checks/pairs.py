"""Pairs of settings that two programs read, and that have to say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.conditions import compare
from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown


def differ(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: pairs ({field: field}). One hit for each pair with two known values that differ, at the first of them.
    `other` is the second one's key, and `written` whether somebody wrote it.
    """
    del at
    hits, unknown = [], None
    for first, second in args["pairs"].items():
        left, right = scope.get(first), scope.get(second)
        if left.value is None or right.value is None:
            continue
        truth = _differ(left.value, right.value)
        if isinstance(truth, Unknown):
            unknown = truth
        elif truth:
            data = {"left": left.value, "right": right.value, "other": right.key, "written": right.span is not None}
            hits.append(Hit(left, data, right.value, related=((right, "says so"),)))
    return hits or unknown or []


def _differ(left: object, right: object) -> bool | Unknown:
    """Words such as `auto` are settled by the program that reads them, so they differ from no number or switch."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return left if isinstance(left, Unknown) else right if isinstance(right, Unknown) else False
    if isinstance(left, str) is not isinstance(right, str) or isinstance(left, bool) is not isinstance(right, bool):
        return False
    same = compare("eq", left, right)
    return same if isinstance(same, Unknown) else not same
