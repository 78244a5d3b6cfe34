"""Calls: who is called with what, and what comes of it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from loralint.source.document import Node
from loralint.source.python import change, containers, objects
from loralint.source.python.builtin import KNOWN as BUILTIN
from loralint.source.python.classes import instantiate
from loralint.source.python.commandline import LIBRARY, METHODS, enter
from loralint.source.python.dotted import KNOWN as DOTTED
from loralint.source.python.emit import Given, Invocation, emit, given_back
from loralint.source.python.follow import follow
from loralint.source.python.held import (
    OPEN,
    Class,
    Function,
    Instance,
    Mapping,
    Module,
    Object,
    Scalar,
    Sequence,
    Super,
    find,
    library_base,
    thing_of,
)
from loralint.source.python.hydra import config_of
from loralint.source.python.opened import KNOWN as OPENED
from loralint.source.python.runs import KNOWN as RUNS
from loralint.source.python.standard import KNOWN as STANDARD
from loralint.source.python.walk import evaluate

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.state import State

KNOWN = {**BUILTIN, **STANDARD, **OPENED, **DOTTED, **RUNS}
# How functions are called that put entries of a second thing into a first.
_MERGES = re.compile(r"(?i)(?:merge|update|override|overlay|overwrite|patch|apply)(?:_|$)")
# How functions of the program are started elsewhere, as methods of the function.
_STARTED = frozenset({"remote", "local", "delay", "spawn", "call"})


def _call(state: State, node: ast.Call) -> Held:
    func = node.func
    if isinstance(func, ast.Attribute):
        base = evaluate(state, func.value)
        return method(state, base, func.attr, _given(state, node))
    callee = evaluate(state, func)
    return invoke(state, callee, _given(state, node))


def _given(state: State, node: ast.Call) -> Invocation:
    """The arguments of a call, with those of known `*args` and `**kwargs` in their place."""
    given: list[Given] = []
    unseen = False
    for one in node.args:
        held = evaluate(state, one.value if isinstance(one, ast.Starred) else one)
        if not isinstance(one, ast.Starred):
            given.append(Given("", held, one))
            continue
        items = held.store["items"] if isinstance(held, Sequence) else None
        unseen = unseen or items is None
        given += [Given("", item) for item in items or ()]
    for keyword in node.keywords:
        held = evaluate(state, keyword.value)
        if keyword.arg is None:
            given += _spread(held)
            unseen = unseen or not isinstance(held, Mapping) or bool(held.store.get(OPEN))
        else:
            given.append(Given(keyword.arg, held, keyword.value, _key(state, keyword, keyword.arg)))
    return Invocation(node, tuple(given), unseen)


def _key(state: State, keyword: ast.keyword, name: str) -> Node:
    start, end = state.range(keyword)
    return Node("scalar", "str", *state.program.marks(start, min(end, start + len(name))), name, False, name)


def _spread(held: Held) -> list[Given]:
    """The arguments that `**held` gives, each at its key's own place."""
    if not isinstance(held, Mapping):
        return []
    entries = [(key, entry) for key, entry in held.store.items() if isinstance(key, str)]
    return [Given(key, entry[1], None, entry[0]) for key, entry in entries]


def invoke(state: State, callee: Held, call: Invocation) -> Held:
    """Call something that was looked up."""
    if isinstance(callee, Function):
        return _called(state, callee, call)
    if isinstance(callee, Class):
        return instantiate(state, callee, call)
    if isinstance(callee, Object) and callee.thing.name:
        return library(state, callee.thing.name, call)
    if isinstance(callee, Object) and callee.thing.made and callee.thing.made.name == "__getattr__":
        # a method that was put into a variable first
        made = callee.thing.made
        return given_back(state, emit(state, made.args[0].node.raw, made.on, call), call.node)
    called = find(callee.cls, "__call__") if isinstance(callee, Instance) and callee.cls else None
    if isinstance(called, Function):
        return follow(state, objects.bound(called, callee), call)  # type: ignore[arg-type]
    return given_back(state, emit(state, "__call__", thing_of(callee), call), call.node)


def _called(state: State, function: Function, call: Invocation) -> Held:
    """Call a function of the program, or what a decorator has made of it."""
    if call.given:
        return follow(state, function, call)
    if _takes_options(function):
        return enter(state, function, call.node)
    config = config_of(state, function)
    return follow(state, function, call if config is None else call._replace(given=(Given("", config),)))


def _takes_options(function: Function) -> bool:
    made = [one.thing.made for one in function.decorators if isinstance(one, Object)]
    return any(one is not None and one.name == "click.option" for one in made)


def library(state: State, name: str, call: Invocation) -> Held:
    """Call something imported: what is known is worked out, the rest is told."""
    known = KNOWN.get(name)
    held = known(state, call) if known else None
    if held is None and (reader := LIBRARY.get(name.rpartition(".")[2])):
        held = reader(state, name, call)
    placed = call.placed()
    if held is None and len(placed) > 1 and isinstance(placed[0], Mapping) and _MERGES.match(name.rpartition(".")[2]):
        change.overlay(state, placed[0])
    return given_back(state, emit(state, name, None, call), call.node) if held is None else held


def method(state: State, held: Held, name: str, call: Invocation) -> Held:
    """Call a method."""
    if isinstance(held, Object):
        return _of_object(state, held, name, call)
    if isinstance(held, Module):
        return invoke(state, objects.of_module(state, held, name, call.node), call)
    if isinstance(held, (Sequence, Mapping, Scalar)):
        return containers.method(state, held, name, call)
    if isinstance(held, Function):
        if name in _STARTED:
            return follow(state, held, call)
        return given_back(state, emit(state, name, None, call), call.node)
    return _of_super(state, held, name, call) if isinstance(held, Super) else _of_own(state, held, name, call)


def _of_own(state: State, held: Instance | Class, name: str, call: Invocation) -> Held:
    """A method of an object or class of the program, or of the imported class that it builds upon."""
    cls = held.cls if isinstance(held, Instance) else held
    member = held.store.get(name) if isinstance(held, Instance) else None
    if member is None and isinstance(cls, Class):
        member = find(cls, name)
    if member is not None:
        return invoke(state, objects.bound(member, held), call)
    base = library_base(held) if isinstance(held, Class) else ""
    if base:
        return library(state, f"{base}.{name}", call)
    return given_back(state, emit(state, name, thing_of(held), call), call.node)


def _of_object(state: State, held: Object, name: str, call: Invocation) -> Held:
    thing = held.thing
    put = state.given.get(thing.number, {}).get(name)
    if isinstance(put, (Function, Class)):
        return invoke(state, put, call)
    if thing.name:
        return library(state, f"{thing.name}.{name}", call)
    reader = METHODS.get(name)
    found = reader(state, thing, call) if reader else None
    return given_back(state, emit(state, name, thing, call), call.node) if found is None else found


def _of_super(state: State, held: Super, name: str, call: Invocation) -> Held:
    """`super().name(...)`: of a base of the program, or of the imported class that all builds upon."""
    for base in held.cls.bases:
        member = find(base, name) if isinstance(base, Class) else None
        if isinstance(member, Function):
            return follow(state, member._replace(bound=held.instance), call)
    thing = thing_of(held.instance)
    above = library_base(held.cls)
    if name == "__init__" and above:
        emit(state, above, None, call, thing)
        return Scalar(state.node(call.node, "null", None))
    if thing is None and above:
        return library(state, f"{above}.{name}", call)
    return given_back(state, emit(state, name, thing, call), call.node)


EXPRESSIONS = {ast.Call: _call, ast.Subscript: objects.subscript}
