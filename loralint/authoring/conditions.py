"""Authored conditions (mappings) -> the normal form that `loralint.checks.conditions` evaluates.

    {adapter.rank: 8, optim.lr: {gt: 0, lt: 1}}  ->  ["all", ["eq", "adapter.rank", 8], ["gt", ...], ["lt", ...]]

Every fault is a ValueError that says what is wrong, so that a pydantic validator can pass it on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from loralint.authoring.names import check_name
from loralint.checks.conditions import OPERATORS

Normal = list[Any]
ORIGIN_TESTS = ("set", "default", "absent", "known")
TYPES = ("str", "list", "map", "bool", "int", "float", "number", "null")


def normal(condition: object) -> Normal:
    """The normal form of one authored condition; all keys of a mapping must hold."""
    if not isinstance(condition, Mapping) or not condition:
        raise ValueError(f"a condition is a mapping such as {{adapter.rank: {{gt: 0}}}}, not {condition!r}")
    return conjunction([one for key, operand in condition.items() for one in _key(str(key), operand)])


def conjunction(conditions: list[Normal]) -> Normal:
    """All of them, without an "all" around a single one or inside another."""
    flat = [one for outer in conditions for one in (outer[1:] if outer[0] == "all" else [outer])]
    return flat[0] if len(flat) == 1 else ["all", *flat]


def _key(key: str, operand: object) -> list[Normal]:
    if key in {"all", "any"}:
        if not isinstance(operand, list) or not operand:
            raise ValueError(f"{key} takes a list of conditions")
        return [[key, *map(normal, operand)]]
    if key == "not":
        return [["not", normal(operand)]]
    name = check_name(key)
    if isinstance(operand, Mapping) and not _is_reference(operand):
        if not operand:
            raise ValueError(f"{name}: {{}} says nothing")
        return [_compare(str(operator), name, right) for operator, right in operand.items()]
    return [_compare("in" if isinstance(operand, list) else "eq", name, operand)]


def _compare(operator: str, name: str, right: object) -> Normal:
    if operator not in OPERATORS:
        raise ValueError(f"{name}: there is no operator {operator!r}; operators are {', '.join(sorted(OPERATORS))}")
    if _is_reference(right):
        if operator in _LITERAL_ONLY:
            raise ValueError(f"{name}: {operator} takes a literal, not a field")
        check_name(right["field"])  # type: ignore[index]
        return [operator, name, dict(right)]  # type: ignore[call-overload]
    fits, wanted = _ARGUMENTS.get(operator, _SCALAR)
    if not fits(right):
        raise ValueError(f"{name}: {operator} takes {wanted}, not {right!r}")
    return [operator, name, right]


def _is_reference(operand: object) -> bool:
    return isinstance(operand, Mapping) and set(operand) == {"field"} and isinstance(operand["field"], str)


def _is_number(right: object) -> bool:
    return isinstance(right, (int, float)) and not isinstance(right, bool)


def _is_scalar(right: object) -> bool:
    return isinstance(right, (str, int, float))


def _is_list(right: object) -> bool:
    return isinstance(right, list) and bool(right) and all(map(_is_scalar, right))


def _is_interval(right: object) -> bool:
    return isinstance(right, list) and len(right) == 2 and all(map(_is_number, right)) and right[0] <= right[1]


def _is_pattern(right: object) -> bool:
    try:
        re.compile(str(right))
    except re.error:
        return False
    return isinstance(right, str)


_SCALAR: tuple[Callable[[object], bool], str] = (_is_scalar, "a text, number or boolean (for null write absent: true)")
_ARGUMENTS: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "multiple_of"), (_is_number, "a number or {field: name}")),
    **dict.fromkeys(("in", "not_in"), (_is_list, "a list of literals")),
    **dict.fromkeys(ORIGIN_TESTS, (lambda right: isinstance(right, bool), "true or false")),
    "between": (_is_interval, "[low, high]"),
    "matches": (_is_pattern, "a regular expression"),
    "type": (lambda right: right in TYPES, f"one of {', '.join(TYPES)}"),
}
_LITERAL_ONLY = frozenset({"between", "matches", "type", *ORIGIN_TESTS})


def names(condition: Normal) -> frozenset[str]:
    """Every name that a normal form reads."""
    head = condition[0]
    if head in {"all", "any", "not"}:
        return frozenset[str]().union(*map(names, condition[1:]))
    right = condition[2]
    return frozenset({condition[1], right["field"]} if _is_reference(right) else {condition[1]})
