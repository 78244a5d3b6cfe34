"""Functions of the program followed with their arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import branches, joins
from loralint.source.python.emit import Given, Invocation, emit, given_back, text_node
from loralint.source.python.held import (
    OPEN,
    Class,
    Entries,
    Function,
    Instance,
    Items,
    Mapping,
    Names,
    Object,
    Scalar,
    Sequence,
    root,
)
from loralint.source.python.objects import option
from loralint.source.python.walk import RETURN, evaluate, run

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.program import Program
    from loralint.source.python.state import State

# Functions within each other, and calls of one function, that are followed.
WITHIN = 12
TIMES = 16


def follow(state: State, function: Function, call: Invocation, fill: str = "") -> Held:
    """Follow a call of a function of the program; say what it gives back.

    fill: what gives the parameters that the call does not: empty for their defaults, "arguments" for the command line,
    "anybody" for nobody knows what.
    """
    code = function.code
    count = state.followed.get(id(code), 0)
    state.followed[id(code)] = count + 1
    if id(code) in state.following or len(state.following) >= WITHIN or count >= TIMES:
        name = getattr(code, "name", "a lambda")
        if len(state.following) >= WITHIN:  # what is called again does the same again
            state.note(f"`{name}` is called too deep to follow")
        return given_back(state, emit(state, name, None, call), call.node)
    scope, fixed = state.scope, state.fixed
    state.scope = Names(function.scope)
    state.fixed = None
    _bind(state, function, call, fill)
    state.following.append(id(code))
    instance = function.bound if isinstance(function.bound, (Instance, Class)) else None
    branches.enter(state, state.functions, function.owner, instance)
    loops, state.loops = state.loops, []
    before = state.enter(function.scope)
    found = _results(state, function)
    state.leave(before)
    state.loops = loops
    state.following.pop()
    state.scope, state.fixed = scope, fixed
    return joins.join(state, [Scalar(state.node(call.node, "null", None)) if one is None else one for one in found])


def _results(state: State, function: Function) -> list[Held | None]:
    """What a function may give back, None where it ends without a word."""
    if isinstance(function.code, ast.Lambda):
        held = evaluate(state, function.code.body)
        branches.leave(state, state.functions)
        return [held]
    flow = run(state, function.code.body)
    found = branches.leave(state, state.functions).results
    return [*found] if flow == RETURN and found else [*found, None]


def _bind(state: State, function: Function, call: Invocation, fill: str) -> None:
    """Give the parameters what the call gives them."""
    arguments = function.code.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    placed = ([function.bound] if function.bound is not None else []) + call.placed()
    scope = state.scope
    scope.update(zip(names, placed, strict=False))
    named = {one.name: one for one in call.given if one.name}
    known = {*names, *(one.arg for one in arguments.kwonlyargs)}
    scope.update((name, one.held) for name, one in named.items() if name in known)
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if one.arg not in scope:
            scope[one.arg] = _absent(state, function, one, call, fill)
    if arguments.vararg:
        store = Items(items=None if call.open else tuple(placed[len(names) :]))
        scope[arguments.vararg.arg] = Sequence(state.node(call.node, "seq", Unknown("a list")), store)
    if arguments.kwarg:
        scope[arguments.kwarg.arg] = _rest(state, [one for name, one in named.items() if name not in known], call, fill)


def _absent(state: State, function: Function, parameter: ast.arg, call: Invocation, fill: str) -> Held:
    """What a parameter holds that the call does not name."""
    name = parameter.arg
    default: Held | None = function.defaults.get(name)
    program: Program = root(function.scope).program
    marks = program.marks(*program.range(parameter))
    if fill == "arguments":
        reason = option(name, default.node if default is not None else None)
        return Scalar(Node("scalar", "argument", *marks, name, True, reason))
    if default is not None and not call.open and not fill:
        return default
    reason = Unknown(f"`{name}` is for the caller to give")
    if isinstance(default, Scalar):
        return Scalar(Node("scalar", "unknown", *marks, name, True, reason))
    return Object(Node("scalar", "object", *marks, name, True, reason), state.thing())


def _rest(state: State, given: list[Given], call: Invocation, fill: str) -> Mapping:
    """The dictionary that `**kwargs` holds."""
    store = Entries()
    for one in given:
        store[one.name] = (one.key or text_node(state, call.node, one.name), one.held)
    if call.open or fill:
        store[OPEN] = True
    return Mapping(state.node(call.node, "map", Unknown("a dictionary")), store)
