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
from loralint.facts import PLACES
from loralint.facts.scope import Scope
from loralint.model import Unknown, Value

Truth = bool | Unknown
Condition = Sequence[Any]
Guard = tuple[str, Callable[[Value], bool]]


def holds(condition: Condition, scope: Scope) -> Truth:
    """Whether the condition holds; False beats Unknown in "all", True beats it in "any"."""
    known = _BUILT.get(id(condition))
    if known is None or known[0] is not condition:
        known = _BUILT[id(condition)] = (condition, _build(condition))
    return known[1](scope)


# By identity, with the condition itself so that no other can take its place: rules and golden entries are read once.
_BUILT: dict[int, tuple[Condition, Callable[[Scope], Truth]]] = {}


def _build(condition: Condition) -> Callable[[Scope], Truth]:
    """The condition as a function; a run asks the same few hundred of every file."""
    head = condition[0]
    if head == "all":
        every = [_build(part) for part in condition[1:]]
        return lambda scope: _every(every, scope)
    if head == "any":
        some = [_build(part) for part in condition[1:]]
        return lambda scope: _some(some, scope)
    if head == "not":
        inner = _build(condition[1])
        return lambda scope: _negated(inner(scope))
    name, right = condition[1], condition[2]
    if head in _ORIGINS:
        asked = _origin(head, bool(right))
        return lambda scope: asked(scope.get(name))
    if isinstance(right, dict) and "field" in right:
        return lambda scope: compare(head, scope.get(name).value, argument(right, scope))
    compared = _compared(head, right)
    return lambda scope: compared(scope.get(name).value)


def _origin(operator: str, wanted: bool) -> Callable[[Value], Truth]:
    """Where a value comes from; whether there is one is unknown of what is worked out later, as it may be none."""
    origin = _ORIGINS[operator]
    if operator == "absent":
        return lambda value: value.value if isinstance(value.value, Unknown) else origin(value) is wanted
    return lambda value: origin(value) is wanted


def _negated(truth: Truth) -> Truth:
    return truth if isinstance(truth, Unknown) else not truth


def guards(condition: Condition | None) -> tuple[Guard, ...]:
    """(name, test) for the parts of a conjunction that one canonical value or fact alone can make false.

    A test that answers False settles the whole condition. Most rules end at their first one, so this is what a run
    pays for a rule that does not concern it; equal parts of different rules give the same test object.
    """
    if not condition:
        return ()
    head = condition[0]
    if head == "all":
        return tuple([guard for part in condition[1:] for guard in guards(part)])
    if head == "any":
        return _shared(condition[1:])
    return ((condition[1], _test(head, condition[2])),) if _alone(condition) else ()


def _shared(parts: Sequence[Condition]) -> tuple[Guard, ...]:
    """Guards of the fields that each of these alternatives asks: where none of them passes, their disjunction fails."""
    asked: list[dict[str, list[Callable[[Value], bool]]]] = []
    for part in parts:
        tests: dict[str, list[Callable[[Value], bool]]] = {}
        for field, test in guards(part):
            tests.setdefault(field, []).append(test)
        asked.append(tests)
    fields = [field for field in asked[0] if all(field in tests for tests in asked[1:])]
    return tuple((field, _either([tests[field] for tests in asked])) for field in fields)


def _either(sides: list[list[Callable[[Value], bool]]]) -> Callable[[Value], bool]:
    return lambda value: any(all(test(value) for test in side) for side in sides)


def excluded(condition: Condition | None, scope: Scope) -> bool:
    """Whether one value alone makes the condition false; leaves no trace in the scope's reads."""
    if not condition:
        return False
    known = _GUARDED.get(id(condition))
    if known is None or known[0] is not condition:
        known = _GUARDED[id(condition)] = (condition, guards(condition))
    return any(not test(scope.peek(field)) for field, test in known[1])


_GUARDED: dict[int, tuple[Condition, tuple[Guard, ...]]] = {}


def _alone(part: Condition) -> bool:
    if part[0] in ("all", "any", "not") or isinstance(part[2], dict):
        return False
    return part[1] in FIELDS or part[1] in PLACES  # any other name has a meaning only for a while


_TESTS: dict[tuple[str, str], Callable[[Value], bool]] = {}


def _test(operator: str, right: Any) -> Callable[[Value], bool]:
    name = (operator, repr(right))
    if name not in _TESTS:
        _TESTS[name] = _made(operator, right)
    return _TESTS[name]


def _made(operator: str, right: Any) -> Callable[[Value], bool]:
    if operator in _ORIGINS:
        asked = _origin(operator, bool(right))
        return lambda value: asked(value) is not False
    compared = _compared(operator, right)
    return lambda value: compared(value.value) is not False


def _compared(operator: str, right: Any) -> Callable[[object], Truth]:
    """`compare` with a right side that never changes; the commonest comparisons are one look at the left side."""
    if operator in ("eq", "ne") and isinstance(right, bool):
        same = operator == "eq"
        return lambda left: left if isinstance(left, Unknown) else (left is right) is same
    words = right if operator in ("in", "not_in") else [right] if operator in ("eq", "ne") else ()
    if words and all(type(word) is str for word in words):
        among, lowered = operator in ("eq", "in"), frozenset(word.lower() for word in words)
        return lambda left: (left.lower() in lowered) is among if type(left) is str else compare(operator, left, right)
    return lambda left: compare(operator, left, right)


def argument(raw: object, scope: Scope) -> object:
    """A literal, or the present value of the field that `{"field": name}` names.

    With `unsigned`, without its sign; with `else`, that where the field has none, or a number that is not above 0.
    """
    if isinstance(raw, dict) and "field" in raw:
        value = scope.get(raw["field"]).value
        if value is None or ("else" in raw and isinstance(value, (int, float)) and value <= 0):
            value = raw.get("else")
        return abs(value) if raw.get("unsigned") and isinstance(value, (int, float)) else value
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


def _every(parts: list[Callable[[Scope], Truth]], scope: Scope) -> Truth:
    answer: Truth = True
    for part in parts:
        truth = part(scope)
        if truth is False:
            return False
        if truth is not True:
            answer = truth
    return answer


def _some(parts: list[Callable[[Scope], Truth]], scope: Scope) -> Truth:
    answer: Truth = False
    for part in parts:
        truth = part(scope)
        if truth is True:
            return True
        if truth is not False:
            answer = truth
    return answer


def _number(value: object) -> float:
    """Booleans and texts are no numbers here, although Python compares True with 1."""
    if type(value) is float or type(value) is int:
        return value
    raise TypeError(value)


def _equal(left: Any, right: Any) -> bool:
    """`true` is not 1, and words compare without case."""
    if type(left) is type(right):
        return left == right or (type(left) is str and left.lower() == right.lower())
    return type(left) is not bool and type(right) is not bool and bool(left == right)


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


def _linear(left: object, right: str) -> Truth:
    """`matches` of a project's own rule: found as `re.search` would, in time that no expression can stretch."""
    from loralint.knowledge.pattern import Unmatchable, whole

    try:
        return isinstance(left, str) and whole(f"(?is:.*(?:{right}).*)")(left)
    except Unmatchable as why:
        return Unknown(str(why))


# `matches` with an expression that nobody has looked at; authors write `matches`.
LINEAR = "re2"
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
    LINEAR: _linear,
}
OPERATORS = (frozenset(_OPERATORS) | frozenset(_ORIGINS)) - {LINEAR}
