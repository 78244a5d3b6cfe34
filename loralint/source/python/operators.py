"""Expressions that are worked out of others: operators, choices, comprehensions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import branches, fold, joins
from loralint.source.python.held import OPEN, Mapping, Names, Scalar, Sequence
from loralint.source.python.objects import turn
from loralint.source.python.targets import assign
from loralint.source.python.walk import ON, evaluate, opaque

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


from loralint.source.python.literals import LOST, chained, mapping, merge, scalar, sequence

# Items that a comprehension may give before it is left alone.
_ITEMS = 256


Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


def _unary(state: State, node: ast.UnaryOp) -> Held:
    held = evaluate(state, node.operand)
    if isinstance(node.op, ast.Not):
        passed = fold.truth(held)
        return scalar(state, node, LOST if passed is None else not passed, _reason(held))
    return scalar(state, node, fold.unary(node.op, fold.value(held)), _reason(held))


def _binary(state: State, node: ast.BinOp) -> Held:
    left, right = evaluate(state, node.left), evaluate(state, node.right)
    if isinstance(node.op, ast.Add) and isinstance(left, Sequence) and isinstance(right, Sequence):
        return sequence(state, node, chained(left, right))
    if isinstance(node.op, ast.BitOr) and (isinstance(left, Mapping) or isinstance(right, Mapping)):
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
    result: object = False if False in results else LOST if None in results else True
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
    return possible[0] if len(possible) == 1 else joins.join(state, possible)


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
    return joins.join(state, found)


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
    if isinstance(source, Scalar) and source.node.tag == "split" and _only_trims(node):
        return Scalar(_trimmed(state, node, source.node))
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


def _only_trims(node: Comprehension) -> bool:
    """Whether it is `[x.strip() for x in parts]`, which may leave out the empty ones."""
    first = node.generators[0]
    return len(node.generators) == 1 and all(_part(one, first.target) for one in (node.elt, *first.ifs))


def _part(node: ast.expr, target: ast.expr) -> bool:
    """Whether it is the target's name, or `.strip()` of it."""
    called = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
    if isinstance(called, ast.Attribute) and called.attr == "strip":
        node = called.value
    return isinstance(node, ast.Name) and isinstance(target, ast.Name) and node.id == target.id


def _trimmed(state: State, node: Comprehension, parts: Node) -> Node:
    made = state.node(node, "split", parts.native, parts.raw)
    told = [
        one for one, holds in (("strip", isinstance(node.elt, ast.Call)), ("full", node.generators[0].ifs)) if holds
    ]
    made.items = (*parts.items, *(state.node(node, "str", one, one) for one in told))
    return made


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
