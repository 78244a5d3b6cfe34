"""Three-valued conditions over canonical fields, facts and origins: the closed vocabulary of `when` and `levels`.

A condition arrives in the normal form that `authoring` compiles:

    ["all", c...]  ["any", c...]  ["not", c]  [operator, field, argument]

where an argument is a plain value or {"field": name}. The answer is True, False or an Unknown with its reason; an
Unknown never becomes a finding, it becomes a "not checked" note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from loralint.canonical.fields import FIELDS
from loralint.facts.scope import Scope
from loralint.model import Unknown, Value

Truth = bool | Unknown
Condition = Sequence[Any]
Guard = tuple[str, Callable[[Value], bool]]


def holds(condition: Condition, scope: Scope) -> Truth:
    """Whether the condition holds; False beats Unknown in "all", True beats it in "any"."""
    head = condition[0]
    if head == "all":
        return _every(condition[1:], scope)
    if head == "any":
        return _some(condition[1:], scope)
    if head == "not":
        truth = holds(condition[1], scope)
        return truth if isinstance(truth, Unknown) else not truth
    value = scope.get(condition[1])
    if head in _ORIGINS:
        return _ORIGINS[head](value) is bool(condition[2])
    return compare(head, value.value, argument(condition[2], scope))


def guards(condition: Condition | None) -> tuple[Guard, ...]:
    """(field, test) for the parts of a conjunction that one canonical value alone can make false.

    A test that answers False settles the whole condition. Most rules end at their first one, so this is what a run
    pays for a rule that does not concern it.
    """
    if not condition:
        return ()
    if condition[0] == "all":
        return tuple(guard for part in condition[1:] for guard in guards(part))
    return ((condition[1], _test(condition[0], condition[2])),) if _alone(condition) else ()


def _alone(part: Condition) -> bool:
    return part[0] not in ("all", "any", "not") and part[1] in FIELDS and not isinstance(part[2], dict)


def _test(operator: str, right: object) -> Callable[[Value], bool]:
    if operator in _ORIGINS:
        origin = _ORIGINS[operator]
        return lambda value: origin(value) is bool(right)
    return lambda value: compare(operator, value.value, right) is not False


def argument(raw: object, scope: Scope) -> object:
    """A literal, or the present value of the field that `{"field": name}` names."""
    if isinstance(raw, dict) and "field" in raw:
        return scope.get(raw["field"]).value
    return raw


def compare(operator: str, left: object, right: object) -> Truth:
    """One comparison of values; an Unknown on either side makes the answer unknown, a wrong type makes it false.

    An Unknown among the items of a list hides whether the list has something, unless another item is it.
    """
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    try:
        return _OPERATORS[operator](left, right)
    except (TypeError, OverflowError, ValueError):  # of another type, infinite, or no number
        return False


def _every(conditions: Sequence[Condition], scope: Scope) -> Truth:
    unknown: Truth = True
    for condition in conditions:
        truth = holds(condition, scope)
        if truth is False:
            return False
        if isinstance(truth, Unknown):
            unknown = truth
    return unknown


def _some(conditions: Sequence[Condition], scope: Scope) -> Truth:
    unknown: Truth = False
    for condition in conditions:
        truth = holds(condition, scope)
        if truth is True:
            return True
        if isinstance(truth, Unknown):
            unknown = truth
    return unknown


def _number(value: object) -> float:
    """Booleans and texts are no numbers here, although Python compares True with 1."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise TypeError(value)


def _equal(left: Any, right: Any) -> bool:
    """`true` is not 1, and words compare without case."""
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    return bool(left == right)


def _multiple(left: Any, right: Any) -> bool:
    """Whether left = k * right for a whole k, also for shares such as 0.1 and 0.02 (to one part in 10^9)."""
    share = _number(left) / _number(right) if right else 0.5
    return abs(share - round(share)) < 1e-9 * max(1.0, abs(share))


_TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str, "list": (list, tuple), "map": dict, "bool": bool, "int": int, "float": float, "null": type(None),
}  # fmt: skip


def _is_type(left: object, right: str) -> bool:
    if isinstance(left, bool):
        return right == "bool"
    if right == "number":
        return isinstance(left, (int, float))
    return isinstance(left, _TYPES[right])


_ORIGINS: dict[str, Callable[[Value], bool]] = {
    "set": lambda value: value.origin in {"set", "flag", "env", "companion", "inherited", "option"},
    "default": lambda value: value.origin == "default",
    "absent": lambda value: value.origin == "absent" or value.value is None,
    "known": lambda value: value.known,
}
def _has(left: Any, right: Any) -> Truth:
    if not isinstance(left, (list, tuple)):
        return False
    if any(_equal(one, right) for one in left):
        return True
    return next((one for one in left if isinstance(one, Unknown)), False)


_OPERATORS: dict[str, Callable[[Any, Any], Truth]] = {
    "eq": _equal,
    "ne": lambda left, right: not _equal(left, right),
    "in": lambda left, right: any(_equal(left, one) for one in right),
    "not_in": lambda left, right: not any(_equal(left, one) for one in right),
    "has": _has,
    "lt": lambda left, right: _number(left) < _number(right),
    "le": lambda left, right: _number(left) <= _number(right),
    "gt": lambda left, right: _number(left) > _number(right),
    "ge": lambda left, right: _number(left) >= _number(right),
    "between": lambda left, right: right[0] <= _number(left) <= right[1],
    "multiple_of": _multiple,
    "matches": lambda left, right: isinstance(left, str) and re.search(right, left, re.IGNORECASE) is not None,
    "type": _is_type,
}
OPERATORS = frozenset(_OPERATORS) | frozenset(_ORIGINS)
