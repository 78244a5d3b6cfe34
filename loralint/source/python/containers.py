"""Methods of lists, dictionaries and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.python import change, fold, literals
from loralint.source.python.held import OPEN, Class, Entries, Instance, Mapping, Names, Scalar, Sequence
from loralint.source.python.state import MISSING
from loralint.source.python.walk import opaque

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.document import Node
    from loralint.source.python.emit import Invocation
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


def method(state: State, held: Sequence | Mapping | Scalar, name: str, call: Invocation) -> Held:
    """Call a method of a literal."""
    if isinstance(held, Sequence):
        return _of_list(state, held, name, call)
    if isinstance(held, Mapping):
        return _of_dictionary(state, held, name, call)
    return _later(state, held, name, call) if held.node.tag == "argument" else _of_text(state, held, name, call)


def _none(state: State, call: Invocation) -> Held:
    return Scalar(state.node(call.node, "null", None))


def _of_list(state: State, held: Sequence, name: str, call: Invocation) -> Held:
    placed = call.placed()
    items = held.store["items"]
    if name == "copy":
        return literals.sequence(state, call.node, items)
    if name in {"index", "count", "union", "difference", "intersection"}:
        return opaque(state, call.node)
    after = None
    if len(placed) == 1 and name in {"append", "add"}:
        after = (*items, placed[0]) if items is not None and len(items) < fold.LENGTH else None
    elif len(placed) == 1 and name in {"extend", "update"}:
        after = literals.chained(held, placed[0])
    state.spend(len(items or ()) // 16)
    state.write(held.store, "items", after)
    return opaque(state, call.node) if name == "pop" else _none(state, call)


def _of_dictionary(state: State, held: Mapping, name: str, call: Invocation) -> Held:
    reader = _DICTIONARY.get(name)
    if reader is None:
        state.write(held.store, OPEN, held=True)
        return opaque(state, call.node)
    return reader(state, held, call)


def _get(state: State, held: Mapping, call: Invocation) -> Held:
    key = fold.value(call.arg("", 0))
    entry = None if isinstance(key, Unknown) else held.store.get(key)
    if isinstance(entry, tuple):
        found: Held = entry[1]
        return found
    if isinstance(key, Unknown) or held.store.get(OPEN):
        return opaque(state, call.node)
    default = call.arg("default", 1)
    return default if default is not None else _none(state, call)


def _pop(state: State, held: Mapping, call: Invocation) -> Held:
    found = _get(state, held, call)
    key = fold.value(call.arg("", 0))
    if isinstance(key, Unknown):
        state.write(held.store, OPEN, held=True)
    elif key in held.store:
        state.write(held.store, key, MISSING)
    return found


def _set_default(state: State, held: Mapping, call: Invocation) -> Held:
    key, value = call.arg("", 0), call.arg("", 1)
    name = fold.value(key)
    if key is not None and value is not None and not isinstance(name, Unknown) and name not in held.store:
        if held.store.get(OPEN):
            return opaque(state, call.node)
        state.write(held.store, name, (key.node, value))
        return value
    return _get(state, held, call)


def _update(state: State, held: Mapping, call: Invocation) -> Held:
    others = call.placed()
    if isinstance(held.of, (Instance, Class)):  # `vars(args).update(...)`
        state.write(held.of.store if isinstance(held.of, Instance) else held.of.members, OPEN, held=True)
    if isinstance(held.of, Names):  # `globals().update(...)`
        change.obscure(state, held.of)
    if call.open or any(not isinstance(other, Mapping) or other.store.get(OPEN) for other in others):
        change.overlay(state, held)
    for other in others:
        for key, entry in other.store.items() if isinstance(other, Mapping) else ():
            state.write(held.store, key, entry)
    for one in call.given:
        if one.name and one.key:
            state.write(held.store, one.name, (one.key, one.held))
    return _none(state, call)


def _copy(_state: State, held: Mapping, _call: Invocation) -> Held:
    return Mapping(held.node, Entries(held.store))


def _entries(held: Mapping) -> list[tuple[Node, Held]]:
    return [entry for key, entry in held.store.items() if key is not OPEN]


def _keys(state: State, held: Mapping, call: Invocation) -> Held:
    known = None if held.store.get(OPEN) else tuple(Scalar(key) for key, _ in _entries(held))
    return literals.sequence(state, call.node, known)


def _values(state: State, held: Mapping, call: Invocation) -> Held:
    known = None if held.store.get(OPEN) else tuple(entry[1] for entry in _entries(held))
    return literals.sequence(state, call.node, known)


def _items(state: State, held: Mapping, call: Invocation) -> Held:
    if held.store.get(OPEN):
        return literals.sequence(state, call.node, None)
    pairs = [(Scalar(entry[0]), entry[1]) for entry in _entries(held)]
    return literals.sequence(state, call.node, tuple(literals.sequence(state, call.node, pair) for pair in pairs))


_DICTIONARY: dict[str, Callable[[State, Mapping, Invocation], Held]] = {
    "get": _get,
    "pop": _pop,
    "setdefault": _set_default,
    "update": _update,
    "copy": _copy,
    "keys": _keys,
    "values": _values,
    "items": _items,
}


def _of_text(state: State, held: Scalar, name: str, call: Invocation) -> Held:
    text = fold.text(held)
    if text is not None and name == "join" and len(call.given) == 1:
        return _join(state, text, call)
    given = [fold.value(one) for one in call.placed()]
    if text is None or len(text) > fold.LENGTH or any(isinstance(one, Unknown) for one in given):
        return opaque(state, call.node)
    if name in {"lower", "upper", "strip", "lstrip", "rstrip", "title"} and not given:
        return literals.scalar(state, call.node, getattr(text, name)())
    if name in {"startswith", "endswith"} and len(given) == 1 and isinstance(given[0], str):
        return literals.scalar(state, call.node, getattr(text, name)(given[0]))
    if name == "split" and len(given) <= 1 and all(isinstance(one, str) and one for one in given):
        return literals.sequence(
            state,
            call.node,
            tuple(literals.scalar(state, call.node, part) for part in text.split(*given)),  # type: ignore[arg-type]
        )
    return opaque(state, call.node)


def _later(state: State, held: Scalar, name: str, call: Invocation) -> Held:
    """What a method makes of a text that the command line gives: of `split` it is known how."""
    given = [fold.text(one) for one in call.placed()]
    if name != "split" or len(given) != 1 or not given[0]:
        return opaque(state, call.node)
    made = state.node(call.node, "split", held.node.native, held.node.raw)
    made.items = (call.placed()[0].node,)
    return Scalar(made)


def _join(state: State, text: str, call: Invocation) -> Held:
    parts = call.given[0].held
    items = parts.store["items"] if isinstance(parts, Sequence) else None
    texts = None if items is None else [fold.text(item) for item in items]
    if texts is None or None in texts:
        return opaque(state, call.node)
    known = [one for one in texts if one is not None]
    if sum(map(len, known)) + len(text) * len(known) > fold.LENGTH:
        return opaque(state, call.node)
    return literals.scalar(state, call.node, text.join(known))
