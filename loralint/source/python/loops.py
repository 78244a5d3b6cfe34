"""Loops and branches as statements."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import branches, fold
from loralint.source.python.held import Object, Sequence, thing_of
from loralint.source.python.objects import turn
from loralint.source.python.targets import assign, give
from loralint.source.python.walk import ON, RAISE, RETURN, dotted, evaluate, run

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


def _if(state: State, node: ast.If) -> str:
    """All of `if`, `elif`, `else` at once: a chain may be longer than anything may be deep."""
    bodies: list[list[ast.stmt]] = []
    unsure = state.unsure
    while True:
        passed = fold.truth(evaluate(state, node.test))
        if passed is not False:
            bodies.append(node.body)
            state.unsure = unsure + 1  # whether the next test is made
        rest = node.orelse
        if passed is True or len(rest) != 1 or not isinstance(rest[0], ast.If):
            break
        node = rest[0]
    state.unsure = unsure
    if passed is not True:
        bodies.append(rest)
    if len(bodies) == 1:
        return run(state, bodies[0])
    return branches.branch(state, [partial(run, state, body) for body in bodies])


def _for(state: State, node: ast.For | ast.AsyncFor) -> str:
    source = evaluate(state, node.iter)
    items = source.store["items"] if isinstance(source, Sequence) else None
    if items is not None and _unrolled(node, items):
        return _each(state, node, items)

    def body() -> str:
        assign(state, node.target, turn(state, source, node.target))
        return run(state, node.body)

    sure = bool(items) or (isinstance(source, Sequence) and "some" in source.store) or _never_empty(source)
    return branches.loop(state, body, sure) or run(state, node.orelse)


def _never_empty(source: Held) -> bool:
    """Whether it is what a module of torch gives: its parameters, of which every model has some."""
    made = thing.made if (thing := thing_of(source)) is not None else None
    return made is not None and made.name in {"parameters", "named_parameters"}


def _unrolled(node: ast.For | ast.AsyncFor, items: tuple[Held, ...]) -> bool:
    """Whether each turn is followed: a short list that stands in the program. Turns that only count are alike."""
    counts = isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "range"
    return len(items) <= (1 if counts else branches.TURNS)


def _each(state: State, node: ast.For | ast.AsyncFor, items: tuple[Held, ...]) -> str:
    branches.enter(state, state.loops)
    flow = ON
    for item in items:
        assign(state, node.target, item)
        flow = run(state, node.body)
        if flow in {RETURN, RAISE}:
            break
    branches.leave(state, state.loops)
    return flow if flow in {RETURN, RAISE} else run(state, node.orelse)


def _while(state: State, node: ast.While) -> str:
    passed = fold.truth(evaluate(state, node.test))
    if passed is False:
        return run(state, node.orelse)
    return branches.loop(state, lambda: run(state, node.body), passed is True) or run(state, node.orelse)


def _try(state: State, node: ast.Try) -> str:
    flow = run(state, node.body)
    if node.handlers:
        flow = branches.rescue(state, flow, [_handler(state, one) for one in node.handlers])
    if not flow:
        flow = run(state, node.orelse)
    return run(state, node.finalbody) or flow


def _handler(state: State, node: ast.ExceptHandler) -> branches.Way:
    def way() -> str:
        if node.name:
            reason = Unknown("an error")
            place = Node("scalar", "object", *state.program.marks(*_range(state, node)), node.name, True, reason)
            give(state, node.name, Object(place, state.thing()))
        return run(state, node.body)

    return way


def _range(state: State, node: ast.ExceptHandler) -> tuple[int, int]:
    start = state.program.offset(node.lineno, node.col_offset)
    return start, start


def _match(state: State, node: ast.Match) -> str:
    evaluate(state, node.subject)
    ways: list[branches.Way] = [_case(state, one) for one in node.cases]
    last = node.cases[-1]
    whole = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    return branches.branch(state, ways if whole else [*ways, lambda: ON])


def _case(state: State, case: ast.match_case) -> branches.Way:
    def way() -> str:
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str) and isinstance(part, ast.pattern):
                start = state.program.offset(part.lineno, part.col_offset)
                marks = state.program.marks(start, start)
                place = Node("scalar", "object", *marks, name, True, Unknown(f"`{name}` is matched"))
                give(state, name, Object(place, state.thing()))
        if case.guard is not None:
            evaluate(state, case.guard)
        return run(state, case.body)

    return way


STATEMENTS: dict[type, Any] = {
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
}
