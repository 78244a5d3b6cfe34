"""Functions of Python itself whose result follows from literals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.python import environment, fold, literals
from loralint.source.python.held import (
    OPEN,
    Mapping,
    Scalar,
    Sequence,
)
from loralint.source.python.walk import opaque

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.python.emit import Invocation
    from loralint.source.python.held import Held
    from loralint.source.python.state import State

_RANGE = 256


def _convert(kind: type) -> Callable[[State, Invocation], Held | None]:
    """`int("8")`, `float("2e-4")` ..."""

    def convert(state: State, call: Invocation) -> Held | None:
        placed = call.placed()
        if len(placed) != 1 or len(call.given) != 1:
            return None
        found = fold.value(placed[0])
        if isinstance(found, Unknown):
            environment.made_number(state, placed[0], kind.__name__)
            return _same(placed[0]) or opaque(state, call.node)
        if isinstance(found, int) and found.bit_length() > fold.BITS:
            return opaque(state, call.node)
        try:
            result = kind(found[:400] if isinstance(found, str) else found)
        except (ValueError, TypeError, OverflowError):
            return opaque(state, call.node)
        return literals.scalar(state, call.node, result)

    return convert


def _same(held: Held) -> Held | None:
    """What the command line gives stays what it is: `int(args.rank)` is the argument."""
    return held if isinstance(held, Scalar) and held.node.tag == "argument" else None


def _truth(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    passed = fold.truth(placed[0]) if placed else False
    return opaque(state, call.node) if passed is None else literals.scalar(state, call.node, passed)


def _list(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    first = placed[0] if placed else None
    if first is None:
        return literals.sequence(state, call.node, ())
    if isinstance(first, Mapping) and not first.store.get(OPEN):
        return literals.sequence(state, call.node, tuple(Scalar(entry[0]) for entry in first.store.values()))
    return literals.sequence(state, call.node, first.store["items"] if isinstance(first, Sequence) else None)


def _dict(state: State, call: Invocation) -> Held | None:
    found = literals.mapping(state, call.node)
    for other in call.placed():
        literals.merge(found, other)
    if call.open:
        literals.cover(found)
    for one in call.given:
        if one.name and one.key:
            found.store.pop(one.name, None)
            found.store[one.name] = (one.key, one.held)
    return found


def _length(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    first = placed[0] if placed else None
    text = fold.text(first)
    if text is not None:
        return literals.scalar(state, call.node, len(text))
    items = first.store["items"] if isinstance(first, Sequence) else None
    if isinstance(first, Mapping) and not first.store.get(OPEN):
        return literals.scalar(state, call.node, len(first.store))
    return opaque(state, call.node) if items is None else literals.scalar(state, call.node, len(items))


def _extreme(pick: Callable[..., float]) -> Callable[[State, Invocation], Held | None]:
    def extreme(state: State, call: Invocation) -> Held | None:
        placed = call.placed()
        found = [fold.value(one) for one in placed]
        numbers = [one for one in found if isinstance(one, (int, float))]
        if len(numbers) < 2 or len(numbers) != len(call.given):
            return opaque(state, call.node)
        return placed[found.index(pick(numbers))]

    return extreme


def _range(state: State, call: Invocation) -> Held | None:
    found = [fold.value(one) for one in call.placed()]
    numbers = [one for one in found if isinstance(one, int) and one.bit_length() < 32]
    if len(numbers) != len(found) or not 1 <= len(found) <= 3 or numbers[2:] == [0]:
        return literals.sequence(state, call.node, None)
    given = range(*numbers)
    if len(given) <= _RANGE:
        return literals.sequence(state, call.node, tuple(literals.scalar(state, call.node, one) for one in given))
    held = literals.sequence(state, call.node, None)
    held.store["some"] = ()
    return held


KNOWN: dict[str, Callable[[State, Invocation], Held | None]] = {
    "int": _convert(int),
    "float": _convert(float),
    "str": _convert(str),
    "abs": _convert(abs),  # type: ignore[arg-type]
    "bool": _truth,
    "list": _list,
    "tuple": _list,
    "set": _list,
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "len": _length,
    "max": _extreme(max),
    "min": _extreme(min),
    "range": _range,
}
