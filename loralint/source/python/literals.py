"""Expressions that are literals or made of them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Problem
from loralint.source.python import fold
from loralint.source.python.held import OPEN, Entries, Items, Mapping, Scalar, Sequence
from loralint.source.python.joins import overlaid
from loralint.source.python.walk import described, evaluate, opaque

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State

_STRING = re.compile(
    r"""(?s)[A-Za-z]{0,2}(?:"{3}(?:\\.|(?!"{3}).)*"{3}|'{3}(?:\\.|(?!'{3}).)*'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
)


def scalar(state: State, node: Spot, found: object, reason: Unknown | None = None) -> Scalar:
    """Tell a value that was worked out from literals. reason: why not, of what it was made of."""
    tag = fold.TAGS.get(type(found))
    if tag is None or (isinstance(found, int) and found.bit_length() > fold.BITS):
        return Scalar(state.unknown(node, reason.reason if reason else described(node)))
    return Scalar(state.node(node, tag, found, found if isinstance(found, str) else None))


def _constant(state: State, node: ast.Constant) -> Held:
    return scalar(state, node, node.value)


def _joined_string(state: State, node: ast.JoinedStr) -> Held:
    before, state.fixed = state.fixed, state.range(node)
    parts = [_part(state, part) for part in node.values]
    state.fixed = before
    known = [part for part in parts if part is not None]
    whole = "".join(known)
    return scalar(state, node, whole if len(known) == len(parts) and len(whole) <= fold.LENGTH else LOST)


# No literal: `scalar` makes an unknown of it.
LOST = Unknown("")


def _part(state: State, node: ast.expr) -> str | None:
    if isinstance(node, ast.FormattedValue):
        held = evaluate(state, node.value)
        spec = evaluate(state, node.format_spec) if node.format_spec else None
        given = "" if spec is None else fold.text(spec)
        return None if given is None else fold.formatted(fold.value(held), node.conversion, given)
    return fold.text(evaluate(state, node))


def _sequence(state: State, node: ast.List | ast.Tuple | ast.Set) -> Held:
    items: list[Held] = []
    if isinstance(node, ast.Set) and any(isinstance(item, (ast.Set, ast.Dict)) for item in node.elts):
        return opaque(state, node)  # `{{ rank }}` of a template; Python itself refuses it
    for item in node.elts:
        if isinstance(item, ast.Starred):
            inner = evaluate(state, item.value)
            known = inner.store["items"] if isinstance(inner, Sequence) else None
            items += [opaque(state, item)] if known is None else known
            state.spend(len(known or ()))
        else:
            items.append(evaluate(state, item))
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            _look_for_join(state, item, item.value)
    state.spend(len(items))
    return sequence(state, node, tuple(items))


def sequence(state: State, node: Spot, items: tuple[Held, ...] | None) -> Sequence:
    """Make a list at the place of an expression."""
    store = Items()
    store["items"] = None if items is not None and len(items) > fold.LENGTH else items
    state.spend(len(items or ()) // 8)
    return Sequence(state.node(node, "seq", Unknown("a list")), store)


def chained(one: Held, other: Held) -> tuple[Held, ...] | None:
    """The items of two lists, one after the other; None where nobody knows or they are too many."""
    mine = one.store["items"] if isinstance(one, Sequence) else None
    theirs = other.store["items"] if isinstance(other, Sequence) else None
    if mine is None or theirs is None or len(mine) + len(theirs) > fold.LENGTH:
        return None
    return (*mine, *theirs)


def mapping(state: State, node: Spot) -> Mapping:
    """Make a dictionary at the place of an expression, to be filled."""
    return Mapping(state.node(node, "map", Unknown("a dictionary")), Entries())


def _look_for_join(state: State, node: ast.Constant, value: str) -> None:
    """Report an item that Python joins from several strings without being told to by parentheses."""
    if state.fixed or state.muted:
        return
    start, end = state.range(node)
    text = state.program.text
    if end - start < len(value) + 4 or text[:start].rstrip()[-1:] == "(":
        return
    if _strings(text[start:end]) > 1:
        message = "Python joins the strings that stand side by side here into one: a comma is missing between them"
        state.faults.append(Problem("implicit-join", message, state.span(node)))


def _strings(text: str) -> int:
    at = found = 0
    while match := _STRING.match(text, at):
        found += 1
        space = re.compile(r"(?:\s|\\\r?\n|#[^\n]*)*").match(text, match.end())
        at = space.end() if space else match.end()
    return found


def _dict(state: State, node: ast.Dict) -> Held:
    found = mapping(state, node)
    for key, value in zip(node.keys, node.values, strict=True):
        held = evaluate(state, value)
        if key is None:
            merge(found, held)
        else:
            put(found, evaluate(state, key), held)
    return found


def put(found: Mapping, key: Held, held: Held) -> None:
    """Put an entry into a dictionary that nobody else holds yet."""
    name = fold.value(key)
    if isinstance(name, Unknown):
        cover(found)
        return
    found.store.pop(name, None)
    found.store[name] = (key.node, held)


def merge(found: Mapping, other: Held) -> None:
    """Put the entries of another dictionary into one that nobody else holds yet."""
    if not isinstance(other, Mapping) or other.store.get(OPEN):
        cover(found)
    for key, entry in other.store.items() if isinstance(other, Mapping) else ():
        found.store.pop(key, None)
        found.store[key] = entry


def cover(found: Mapping) -> None:
    """Put entries that nobody sees into a dictionary that nobody else holds yet."""
    for key, entry in found.store.items():
        if key is not OPEN:
            found.store[key] = (entry[0], overlaid(entry[1]))
    found.store[OPEN] = True


EXPRESSIONS = {
    ast.Constant: _constant,
    ast.JoinedStr: _joined_string,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
}
