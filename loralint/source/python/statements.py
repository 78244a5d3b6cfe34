"""Statements, in the order in which the program takes them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import branches, fold, literals
from loralint.source.python.classes import define
from loralint.source.python.held import Function, Object, Scalar, Sequence
from loralint.source.python.objects import turn
from loralint.source.python.targets import assign, give, remove, search
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
        mine = held.store["items"]
        more = added.store["items"] if isinstance(added, Sequence) and isinstance(node.op, ast.Add) else None
        state.write(held.store, "items", None if mine is None or more is None else mine + more)
        return ON
    found = fold.binary(node.op, fold.value(held), fold.value(added))
    assign(state, node.target, literals.scalar(state, node.value, found), node.value)
    return ON


def _expression(state: State, node: ast.Expr) -> str:
    evaluate(state, node.value)
    ends = isinstance(node.value, ast.Call) and dotted(node.value.func) in _ENDS
    return RAISE if ends else ON


def _if(state: State, node: ast.If) -> str:
    passed = fold.truth(evaluate(state, node.test))
    if passed is not None:
        return run(state, node.body if passed else node.orelse)
    return branches.branch(state, [lambda: run(state, node.body), lambda: run(state, node.orelse)])


def _for(state: State, node: ast.For | ast.AsyncFor) -> str:
    source = evaluate(state, node.iter)
    items = source.store["items"] if isinstance(source, Sequence) else None
    if items is not None and _unrolled(node, items):
        return _each(state, node, items)

    def body() -> str:
        assign(state, node.target, turn(state, source, node.target))
        return run(state, node.body)

    sure = bool(items) or (isinstance(source, Sequence) and "some" in source.store)
    return branches.loop(state, body, sure) or run(state, node.orelse)


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


def _with(state: State, node: ast.With | ast.AsyncWith) -> str:
    for item in node.items:
        held = evaluate(state, item.context_expr)
        if item.optional_vars is not None:
            assign(state, item.optional_vars, held, item.context_expr)
    return run(state, node.body)


def _function(state: State, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = tuple(evaluate(state, one) for one in node.decorator_list)
    place = state.node(node, "object", Unknown(f"the function `{node.name}`"), node.name)
    made = function(state, node, place, decorators)
    state.defined[id(node)] = made
    give(state, node.name, made)
    return ON


def function(
    state: State,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    place: Node,
    decorators: tuple[Held, ...] = (),
) -> Function:
    """A function as it is defined here, with what its defaults are now."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    given = list(zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True))
    given += [(one, value) for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    defaults = {one.arg: evaluate(state, value) for one, value in given}
    scope = state.scope
    return Function(place, node, scope, defaults, decorators)


def _lambda(state: State, node: ast.Lambda) -> Held:
    return function(state, node, state.node(node, "object", Unknown("a lambda")))


def _import(state: State, node: ast.Import) -> str:
    for one in node.names:
        name = one.name if one.asname else one.name.partition(".")[0]
        _bind_import(state, one.asname or name, name, one)
    return ON


def _import_from(state: State, node: ast.ImportFrom) -> str:
    module = "." * node.level + (node.module or "")
    for one in node.names:
        if one.name != "*":
            dot = "" if module.endswith(".") or not module else "."
            _bind_import(state, one.asname or one.name, f"{module}{dot}{one.name}", one)
    return ON


def _bind_import(state: State, bound: str, name: str, node: ast.alias) -> None:
    thing = state.imported.get(name)
    if thing is None:
        thing = state.imported[name] = state.thing(name=name)
    marks = state.program.marks(*state.range(node))
    give(state, bound, Object(Node("scalar", "import", *marks, name, True, name), thing))


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


def _shared(state: State, node: ast.Global | ast.Nonlocal) -> str:
    for name in node.names:
        scope = state.module
        outer = state.scope.outer
        while isinstance(node, ast.Nonlocal) and outer is not None:
            if name in outer:
                scope = outer
                break
            outer = outer.outer
        state.scope.shared[name] = scope
    return ON


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


def _stop(state: State, node: ast.Break | ast.Continue) -> str:  # noqa: ARG001 - the table's interface
    return LOOP


STATEMENTS = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: define,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Global: _shared,
    ast.Nonlocal: _shared,
    ast.Match: _match,
    ast.Break: _stop,
    ast.Continue: _stop,
}
EXPRESSIONS: dict[type, Any] = {ast.Lambda: _lambda}
