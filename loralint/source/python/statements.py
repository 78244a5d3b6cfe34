"""Statements, in the order in which the program takes them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loralint.source.document import Node
from loralint.source.python import fold, literals
from loralint.source.python.held import Scalar, Sequence
from loralint.source.python.targets import assign, remove, search
from loralint.source.python.walk import LOOP, ON, RAISE, RETURN, dotted, evaluate, run

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.state import State

_ENDS = frozenset({"sys.exit", "exit", "quit", "os._exit"})


def _assign(state: State, node: ast.Assign) -> str:
    held = evaluate(state, node.value)
    for target in node.targets:
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, (ast.Tuple, ast.List)):
            _pairwise(state, target, node.value, held)
        else:
            assign(state, target, held, node.value)
    return ON


def _pairwise(state: State, target: ast.Tuple | ast.List, source: ast.Tuple | ast.List, held: Held) -> None:
    """`a.x, b = 1, c`: each target with the expression that it gets."""
    items = held.store["items"] if isinstance(held, Sequence) else None
    plain = not any(isinstance(one, ast.Starred) for one in (*target.elts, *source.elts))
    if not plain or items is None or len(items) != len(target.elts):
        assign(state, target, held)
        return
    for one, item, expression in zip(target.elts, items, source.elts, strict=True):
        assign(state, one, item, expression)


def _annotated(state: State, node: ast.AnnAssign) -> str:
    if node.value is not None:
        assign(state, node.target, evaluate(state, node.value), node.value)
    return ON


def _augmented(state: State, node: ast.AugAssign) -> str:
    """`x += 1`; a list is changed where it stands."""
    added = evaluate(state, node.value)
    held = search(state.scope, node.target.id) if isinstance(node.target, ast.Name) else evaluate(state, node.target)
    if isinstance(held, Sequence):
        state.write(held.store, "items", literals.chained(held, added) if isinstance(node.op, ast.Add) else None)
        return ON
    found = fold.binary(node.op, fold.value(held), fold.value(added))
    assign(state, node.target, literals.scalar(state, node.value, found), node.value)
    return ON


def _expression(state: State, node: ast.Expr) -> str:
    evaluate(state, node.value)
    ends = isinstance(node.value, ast.Call) and dotted(node.value.func) in _ENDS
    return RAISE if ends else ON


def _with(state: State, node: ast.With | ast.AsyncWith) -> str:
    for item in node.items:
        held = evaluate(state, item.context_expr)
        if item.optional_vars is not None:
            assign(state, item.optional_vars, held, item.context_expr)
    return run(state, node.body)


def _return(state: State, node: ast.Return) -> str:
    held = evaluate(state, node.value) if node.value else None
    if state.functions:
        frame = state.functions[-1]
        if state.muted <= frame.muted:
            marks = state.program.marks(*state.range(node))
            frame.results.append(held or Scalar(Node("scalar", "null", *marks, "None", True, None)))
    return RETURN


def _raise(state: State, node: ast.Raise) -> str:
    for one in (node.exc, node.cause):
        if one is not None:
            evaluate(state, one)
    return RAISE


def _assert(state: State, node: ast.Assert) -> str:
    evaluate(state, node.test)
    return ON


def _delete(state: State, node: ast.Delete) -> str:
    for target in node.targets:
        remove(state, target)
    return ON


def _stop(state: State, node: ast.Break | ast.Continue) -> str:  # noqa: ARG001 - the table's interface
    return LOOP


STATEMENTS = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Break: _stop,
    ast.Continue: _stop,
}
