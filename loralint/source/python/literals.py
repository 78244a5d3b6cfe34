"""Expressions that are literals or made of them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Problem
from loralint.source.python import branches, fold
from loralint.source.python.held import OPEN, Entries, Items, Mapping, Names, Scalar, Sequence
from loralint.source.python.objects import turn
from loralint.source.python.targets import assign
from loralint.source.python.walk import ON, described, evaluate, opaque

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State

# Items that a comprehension may give before it is left alone.
_ITEMS = 256
_STRING = re.compile(
    r"""(?s)[A-Za-z]{0,2}(?:"{3}(?:\\.|(?!"{3}).)*"{3}|'{3}(?:\\.|(?!'{3}).)*'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
)
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


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
    return scalar(state, node, whole if len(known) == len(parts) and len(whole) <= fold.LENGTH else _LOST)


# No literal: `scalar` makes an unknown of it.
_LOST = Unknown("")


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
        else:
            items.append(evaluate(state, item))
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            _look_for_join(state, item, item.value)
    state.spend(len(items))
    return sequence(state, node, tuple(items))


def sequence(state: State, node: Spot, items: tuple[Held, ...] | None) -> Sequence:
    """Make a list at the place of an expression."""
    store = Items()
    store["items"] = items
    return Sequence(state.node(node, "seq", Unknown("a list")), store)


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
        found.store[OPEN] = True
        return
    found.store.pop(name, None)
    found.store[name] = (key.node, held)


def merge(found: Mapping, other: Held) -> None:
    """Put the entries of another dictionary into one that nobody else holds yet."""
    if not isinstance(other, Mapping):
        found.store[OPEN] = True
        return
    for key, entry in other.store.items():
        found.store.pop(key, None)
        found.store[key] = entry


def _unary(state: State, node: ast.UnaryOp) -> Held:
    held = evaluate(state, node.operand)
    if isinstance(node.op, ast.Not):
        passed = fold.truth(held)
        return scalar(state, node, _LOST if passed is None else not passed, _reason(held))
    return scalar(state, node, fold.unary(node.op, fold.value(held)), _reason(held))


def _binary(state: State, node: ast.BinOp) -> Held:
    left, right = evaluate(state, node.left), evaluate(state, node.right)
    if isinstance(node.op, ast.Add) and isinstance(left, Sequence) and isinstance(right, Sequence):
        mine, theirs = left.store["items"], right.store["items"]
        return sequence(state, node, None if mine is None or theirs is None else mine + theirs)
    if isinstance(node.op, ast.BitOr) and isinstance(left, Mapping):
        found = mapping(state, node)
        merge(found, left)
        merge(found, right)
        return found
    return scalar(state, node, fold.binary(node.op, fold.value(left), fold.value(right)), _reason(left, right))


def _reason(*found: Held) -> Unknown | None:
    """The reason of the command line, which says more than that something is worked out."""
    for one in found:
        if isinstance(one, Scalar) and one.node.tag == "argument" and isinstance(one.node.native, Unknown):
            return one.node.native
    return None


def _compare(state: State, node: ast.Compare) -> Held:
    found = [evaluate(state, one) for one in (node.left, *node.comparators)]
    results = [fold.compare(sign, found[at], found[at + 1]) for at, sign in enumerate(node.ops)]
    result: object = False if False in results else _LOST if None in results else True
    return scalar(state, node, result, _reason(*found))


def _logic(state: State, node: ast.BoolOp) -> Held:
    """`a or b`: the first whose truth decides, else what may come of the rest."""
    wanted = isinstance(node.op, ast.Or)
    possible: list[Held] = []
    unsure = 0
    for value in node.values:
        held = evaluate(state, value)
        passed = fold.truth(held)
        if passed is wanted or value is node.values[-1]:
            possible.append(held)
            break
        if passed is None:
            possible.append(held)
            unsure += 1
            state.unsure += 1
    state.unsure -= unsure
    return possible[0] if len(possible) == 1 else branches.join(state, possible)


def _choice(state: State, node: ast.IfExp) -> Held:
    passed = fold.truth(evaluate(state, node.test))
    if passed is not None:
        return evaluate(state, node.body if passed else node.orelse)
    found: list[Held] = []

    def way(value: ast.expr) -> branches.Way:
        def take() -> str:
            found.append(evaluate(state, value))
            return ON

        return take

    branches.branch(state, [way(node.body), way(node.orelse)])
    return branches.join(state, found)


def _named(state: State, node: ast.NamedExpr) -> Held:
    held = evaluate(state, node.value)
    assign(state, node.target, held)
    return held


def _inner(state: State, node: ast.Await | ast.Starred) -> Held:
    return evaluate(state, node.value)


def _yield(state: State, node: ast.Yield | ast.YieldFrom) -> Held:
    if node.value is not None:
        evaluate(state, node.value)
    return opaque(state, node)


def _comprehension(state: State, node: Comprehension) -> Held:
    first = node.generators[0]
    source = evaluate(state, first.iter)
    items = source.store["items"] if isinstance(source, Sequence) else None
    scope, state.scope = state.scope, Names(state.scope)
    state.unsure += items is None
    found: list[Held] | None = []
    if items is None or len(items) > _ITEMS or len(node.generators) > 1:
        assign(state, first.target, turn(state, source, first.target))
        for more in node.generators[1:]:
            assign(state, more.target, turn(state, evaluate(state, more.iter), more.target))
        evaluate(state, node.elt)
        found = None
    else:
        found = _given(state, node, items)
    state.unsure -= items is None
    state.scope = scope
    return sequence(state, node, None if found is None else tuple(found))


def _given(state: State, node: Comprehension, items: tuple[Held, ...]) -> list[Held] | None:
    found: list[Held] | None = []
    for item in items:
        assign(state, node.generators[0].target, item)
        passed = [fold.truth(evaluate(state, test)) for test in node.generators[0].ifs]
        if None in passed:
            found = None
        if False not in passed:
            held = evaluate(state, node.elt)
            if found is not None:
                found.append(held)
    return found


def _dict_comprehension(state: State, node: ast.DictComp) -> Held:
    evaluate(state, node.generators[0].iter)
    found = mapping(state, node)
    found.store[OPEN] = True
    return found


EXPRESSIONS = {
    ast.Constant: _constant,
    ast.JoinedStr: _joined_string,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.BoolOp: _logic,
    ast.IfExp: _choice,
    ast.NamedExpr: _named,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
}
