"""A value against its golden entry: the first one whose conditions hold; its bounds carry their own tiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from loralint.checks.conditions import Guard, compare, excluded, holds
from loralint.checks.hit import Hit, place
from loralint.facts.scope import Scope
from loralint.knowledge.data import part
from loralint.model import Unknown, Value

_STRENGTH = {"note": 0, "B": 1, "A": 2, "S": 3}
_FIRST: dict[str, Callable[[list[Any]], Any]] = {"gt": min, "ge": min, "lt": max, "le": max}
_SIDES = {
    "above": ("gt", "above"),
    "at_least": ("ge", "above"),
    "below": ("lt", "below"),
    "at_most": ("le", "below"),
    "is": ("eq", "is"),
}


def golden(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: parameter; side ("above", "below" or "is") to judge one side only; entry to name one entry; lever, a field
    whose value is suggested, and power, the one that it counts with in the parameter.
    """
    value = scope.get(args["parameter"])
    if isinstance(value.value, Unknown):
        return value.value
    if value.value is None:
        return []
    if not _beyond(args["parameter"], value.value):
        return []  # whichever entry holds, the value lies within it
    entry = applicable(scope, args["parameter"], args.get("entry"))
    if entry is None or isinstance(entry, Unknown):
        return entry or []
    broken = [bound for bound in entry["bounds"] if _breaks(value.value, bound, args.get("side"))]
    if not broken:
        return []
    worst = max(broken, key=lambda bound: _STRENGTH[bound["tier"]])
    key = _key(worst)
    side = _SIDES[key][1]
    usual = entry.get("recommended")
    data = {"bound": worst[key], "side": side, "then": worst["then"], "entry": entry["id"], "range": entry["range"]}
    suggest = _moved(scope, args, usual / value.value) if "lever" in args else usual
    where = value if value.span or not at else place(scope, at)
    return [Hit(where, {**data, "usual": usual}, suggest, tier=worst["tier"])]


def _moved(scope: Scope, args: Mapping[str, Any], factor: float) -> float | None:
    """The lever's value that changes the parameter by a factor, to one digit."""
    lever = scope.get(args["lever"]).value
    return float(f"{lever * factor ** (1 / args['power']):.0e}") if isinstance(lever, (int, float)) else None


def outside(args: Mapping[str, Any]) -> Guard:
    """What settles `golden` at one look: a value within every entry of the parameter."""
    return args["parameter"], _outside(args["parameter"])


@cache  # the same for all rules of a parameter
def _outside(parameter: str) -> Callable[[Value], bool]:
    return lambda value: isinstance(value.value, Unknown) or _beyond(parameter, value.value)


def _beyond(parameter: str, value: object) -> bool:
    return any(compare(operator, value, limit) is True for operator, limit in _loosest(parameter))


@cache
def _loosest(parameter: str) -> tuple[tuple[str, Any], ...]:
    """(operator, limit) that hold of a value as soon as it breaks any bound of any entry of the parameter."""
    entries: Any = part("golden")
    limits: dict[str, list[Any]] = {}
    for entry in entries.get(parameter, ()):
        for bound in entry["bounds"]:
            limits.setdefault(_SIDES[_key(bound)][0], []).append(bound[_key(bound)])
    same = [("eq", limit) for limit in limits.pop("eq", ())]
    return (*((operator, _FIRST[operator](all_of)) for operator, all_of in limits.items()), *same)


def applicable(scope: Scope, parameter: str, name: str | None = None) -> Any:
    """The golden entry that holds here, None for none, Unknown when that cannot be told."""
    entries: Any = part("golden")
    for entry in entries.get(parameter, ()):
        if (name is not None and name not in (entry["id"], entry["name"])) or "own" in entry:
            continue  # a project's own entry is a rule of its own
        if excluded(entry["when"], scope):
            continue
        truth = holds(entry["when"], scope) if entry["when"] else True
        if isinstance(truth, Unknown):
            return truth
        if truth:
            return entry
    return None


def _breaks(value: object, bound: Mapping[str, Any], side: str | None) -> bool:
    key = _key(bound)
    operator, towards = _SIDES[key]
    return side in (None, towards) and compare(operator, value, bound[key]) is True


def _key(bound: Mapping[str, Any]) -> str:
    return next(key for key in _SIDES if key in bound)
