"""Classes of the program, and objects made of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python.emit import Given, Invocation, emit, text_node
from loralint.source.python.follow import follow
from loralint.source.python.held import (
    Attributes,
    Class,
    Function,
    Instance,
    Names,
    Scalar,
    fields,
    find,
    library_base,
)
from loralint.source.python.state import Frame
from loralint.source.python.targets import give
from loralint.source.python.walk import ON, evaluate, run

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


def define(state: State, node: ast.ClassDef) -> str:
    """`class Name: ...`."""
    for decorator in node.decorator_list:
        evaluate(state, decorator)
    bases = tuple(evaluate(state, base) for base in node.bases)
    for keyword in node.keywords:
        evaluate(state, keyword.value)
    scope, state.scope = state.scope, Names(state.scope)
    members = state.scope
    state.depth += 1
    run(state, node.body)
    state.depth -= 1
    state.scope = scope
    typed = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
    names = tuple(target.id for target in typed if isinstance(target, ast.Name))
    place = Node("scalar", "object", *state.program.marks(*state.range(node)), node.name, True, Unknown("a class"))
    made = Class(place, node.name, bases, members, names)
    for name, member in members.items():
        if isinstance(member, Function) and member.owner is None:
            members[name] = member._replace(owner=made)
            state.defined[id(member.code)] = members[name]
    give(state, node.name, made)
    return ON


def instantiate(state: State, cls: Class, call: Invocation) -> Held:
    """`Name(...)`. A class that builds on an imported one is told as a call of that one."""
    place = state.node(call.node, "object", Unknown(f"an object of `{cls.name}`"))
    made = Instance(place, cls, Attributes(), state.thing())
    init = find(cls, "__init__")
    if isinstance(init, Function):
        follow(state, init._replace(bound=made), call)
        return made
    given = fill(state, made, cls, call)
    base = library_base(cls)
    if base:
        emit(state, base, None, call._replace(given=given, fields=fields(cls)), made.thing)
    later = find(cls, "__post_init__")
    if isinstance(later, Function):
        follow(state, later._replace(bound=made), Invocation(call.node, ()))
    return made


def fill(state: State, made: Instance, cls: Class, call: Invocation) -> tuple[Given, ...]:
    """Give an object the attributes that a generated constructor gives it; say what a base would be given."""
    names = fields(cls)
    given = {one.name: one for one in call.given if one.name}
    for name, one in zip(names, [one for one in call.given if not one.name], strict=False):
        given.setdefault(name, one._replace(name=name, key=text_node(state, call.node, name)))
    for name in names:
        default = find(cls, name)
        if name not in given and default is not None:
            key = Node("scalar", "str", default.node.start_mark, default.node.end_mark, name, False, name)
            given[name] = Given(name, _perhaps(default) if call.open else default, None, key)
    made.store.update((name, one.held) for name, one in given.items())
    return tuple(given.values()) if names else call.given


def _perhaps(held: Held) -> Held:
    place = held.node
    reason = Unknown("`**kwargs` may give another value")
    return Scalar(Node("scalar", "unknown", place.start_mark, place.end_mark, place.raw, True, reason))


def current(state: State) -> Frame | None:
    """The method that is being followed, for `super()`."""
    return next((frame for frame in reversed(state.functions) if frame.owner is not None), None)
