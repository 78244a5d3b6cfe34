"""Arithmetic on literals, within limits: nothing is computed that would be large."""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Any

from loralint.model import Unknown
from loralint.source.python.held import OPEN, Class, Function, Instance, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.python.held import Held

# No integer of a config is larger than a float, no text of one longer.
BITS = 1_000
LENGTH = 10_000
_FORMAT = re.compile(r",?(?:\.\d)?[defgs%]?")
_LATER = Unknown("worked out when the script runs")

_NUMERIC: dict[type, Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: dict[type, Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
TAGS = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null"}


def value(held: Held | None) -> object:
    """The literal that is held, else Unknown."""
    return held.node.native if isinstance(held, Scalar) else _LATER


def text(held: Held | None) -> str | None:
    """The literal text that is held, else None."""
    found = value(held)
    return found if isinstance(found, str) else None


def binary(sign: ast.operator, left: object, right: object) -> object:
    """Work out `left sign right`; Unknown where that is no literal, is too large, or would raise."""
    if isinstance(left, str) and isinstance(right, str):
        return left + right if isinstance(sign, ast.Add) and len(left) + len(right) <= LENGTH else _LATER
    if not _number(left) or not _number(right):
        return _LATER
    if isinstance(sign, ast.Pow):
        return _power(left, right)
    work = _NUMERIC.get(type(sign))
    return _bounded(work, left, right) if work else _LATER


def unary(sign: ast.unaryop, operand: object) -> object:
    """Work out `sign operand`."""
    if isinstance(sign, ast.Not) and not isinstance(operand, Unknown):
        return not operand
    if not _number(operand):
        return _LATER
    if isinstance(sign, ast.USub):
        return -operand  # type: ignore[operator]
    return +operand if isinstance(sign, ast.UAdd) else _LATER  # type: ignore[operator]


def _number(found: object) -> bool:
    return isinstance(found, float) or (isinstance(found, int) and found.bit_length() <= BITS)


def _power(left: Any, right: Any) -> object:
    if isinstance(left, int) and isinstance(right, int) and abs(right) * max(left.bit_length(), 1) > BITS:
        return _LATER
    return _bounded(operator.pow, left, right)


def _bounded(work: Callable[[Any, Any], object], left: object, right: object) -> object:
    try:
        result = work(left, right)
    except (ArithmeticError, ValueError):
        return _LATER
    return result if _number(result) else _LATER


def compare(sign: ast.cmpop, left: Held, right: Held) -> bool | None:
    """Work out a comparison, None where nobody knows."""
    if isinstance(sign, (ast.Is, ast.IsNot)):
        found = _is(left, right)
        return found if found is None or isinstance(sign, ast.Is) else not found
    if isinstance(sign, (ast.In, ast.NotIn)):
        found = _in(left, right)
        return found if found is None or isinstance(sign, ast.In) else not found
    one, other = value(left), value(right)
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return None
    try:
        return bool(_ORDER[type(sign)](one, other))
    except TypeError:
        return None


def _is(left: Held, right: Held) -> bool | None:
    one, other = value(left), value(right)
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        certain = isinstance(left, (Sequence, Mapping, Instance, Function, Class))
        return False if certain and other is None else None
    if one is None or other is None or isinstance(other, bool):
        return one is other
    return None


def _in(left: Held, right: Held) -> bool | None:
    sought = value(left)
    if isinstance(sought, Unknown):
        return None
    whole = text(right)
    if whole is not None:
        return sought in whole if isinstance(sought, str) else None
    if isinstance(right, Mapping):
        return sought in right.store or (None if right.store.get(OPEN) else False)
    items = right.store["items"] if isinstance(right, Sequence) else None
    known = None if items is None else [value(item) for item in items]
    if known is None or any(isinstance(one, Unknown) for one in known):
        return None
    return sought in known


def truth(held: Held) -> bool | None:
    """Whether a test passes, None where nobody knows."""
    if isinstance(held, Scalar):
        found = value(held)
        return None if isinstance(found, Unknown) else bool(found)
    if isinstance(held, Sequence):
        items = held.store["items"]
        return None if items is None else bool(items)
    if isinstance(held, Mapping):
        return any(key is not OPEN for key in held.store) or (None if held.store.get(OPEN) else False)
    return True if isinstance(held, (Function, Class)) else None


def formatted(found: object, conversion: int, spec: str) -> str | None:
    """What `{found!conversion:spec}` of an f-string gives, None where nobody knows."""
    if isinstance(found, Unknown) or not _FORMAT.fullmatch(spec):
        return None
    if isinstance(found, int) and found.bit_length() > BITS:
        return None
    try:
        return format(repr(found) if conversion == ord("r") else found, spec)
    except (ValueError, TypeError, OverflowError):
        return None
