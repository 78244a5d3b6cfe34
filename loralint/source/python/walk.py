"""One step of following: an expression, a block, an argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node, Pair
from loralint.source.python.held import OPEN, Mapping, Object, Scalar, Sequence
from loralint.source.python.state import DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence as Several

    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State

# How a block ends.
ON, RETURN, RAISE, LOOP = "", "return", "raise", "loop"


def evaluate(state: State, node: ast.expr) -> Held:
    """Say what an expression holds, and note the calls in it."""
    state.spend()
    handler = state.expressions.get(type(node))
    if handler is None:
        return Scalar(state.unknown(node, described(node)))
    if state.depth >= DEPTH:
        state.note(f"what is nested more than {DEPTH} deep")
        return Scalar(state.unknown(node, "nested too deep"))
    state.depth += 1
    try:
        return handler(state, node)
    finally:
        state.depth -= 1


def run(state: State, body: Several[ast.stmt]) -> str:
    """Follow a block; say how it ends."""
    if state.depth >= DEPTH:
        state.note(f"what is nested more than {DEPTH} deep")
        return ON
    state.depth += 1
    try:
        for statement in body:
            state.spend()
            handler = state.statements.get(type(statement))
            flow = handler(state, statement) if handler else ON
            if flow:
                return flow
    finally:
        state.depth -= 1
    return ON


def opaque(state: State, node: Spot) -> Scalar:
    """What an expression gives when nobody knows."""
    return Scalar(state.unknown(node, described(node)))


def described(node: Spot) -> str:
    """Say in words that an expression is worked out later. Never quotes a string of the program: it may be a secret."""
    return f"{_words(node)} is worked out when the script runs"


def _words(node: Spot) -> str:
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        return f"`{name}(...)`" if name else "the result of a call"
    if isinstance(node, ast.Subscript):
        name = dotted(node.value)
        return f"`{name}[...]`" if name else "an item"
    name = dotted(node)
    return f"`{name}`" if name else "an expression"


def dotted(node: Spot) -> str:
    """The source of a dotted name, or empty."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 8:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join((node.id, *reversed(parts)))[:80]


def told(state: State, held: Held, node: Spot | None = None) -> Node:
    """Give what is held as a Node. node: the expression that gives it here, which is the place of an object."""
    if isinstance(held, Scalar):
        return held.node
    if isinstance(held, Sequence):
        return _sequence(state, held)
    if isinstance(held, Mapping):
        return _mapping(state, held)
    if isinstance(held, Object) and (held.thing.name or node is None):
        return held.node
    if node is None:
        return held.node
    made = held.thing.made if isinstance(held, Object) else None
    reason = f"it is what `{made.name}` gives" if made else "it is an object of the program"
    return state.node(node, "object", Unknown(reason))


def _sequence(state: State, held: Sequence) -> Node:
    place = held.node
    items = held.store["items"]
    if items is None or state.depth >= DEPTH:
        return _lost(place, "a list that the script fills in when it runs")
    node = Node("sequence", "seq", place.start_mark, place.end_mark)
    state.depth += 1
    node.items = [told(state, item) for item in items]
    state.depth -= 1
    state.spend(len(items))
    return node


def _mapping(state: State, held: Mapping) -> Node:
    place = held.node
    if held.store.get(OPEN) or state.depth >= DEPTH:
        return _lost(place, "a dictionary that the script fills in when it runs")
    node = Node("mapping", "map", place.start_mark, place.end_mark)
    state.depth += 1
    entries = [entry for key, entry in held.store.items() if key is not OPEN]
    node.pairs = [Pair(key.raw, key, told(state, value)) for key, value in entries]
    state.depth -= 1
    state.spend(len(entries))
    return node


def _lost(place: Node, reason: str) -> Node:
    return Node("scalar", "unknown", place.start_mark, place.end_mark, "", True, Unknown(reason))
