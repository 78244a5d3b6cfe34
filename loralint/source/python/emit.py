"""Calls as they are told."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python.held import Object, thing_of
from loralint.source.python.walk import told
from loralint.source.script import Argument, Call, Thing

if TYPE_CHECKING:
    from loralint.model import Span
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State


class Given(NamedTuple):
    """One argument of a call. node: the expression that gives it. key: its name as it stands in the program."""

    name: str
    held: Held
    node: Spot | None = None
    key: Node | None = None


class Invocation(NamedTuple):
    """A call before anybody knows what it does. open: `**kwargs` or `*args` that nobody can see may give more.
    fields: as of a Call.
    """

    node: Spot
    given: tuple[Given, ...]
    open: bool = False
    fields: tuple[str, ...] = ()

    def arg(self, name: str, position: int = -1) -> Held | None:
        """Find an argument by its keyword, or else by its place."""
        named = next((one.held for one in self.given if one.name == name), None)
        placed = self.placed()
        return named if named is not None or not 0 <= position < len(placed) else placed[position]

    def placed(self) -> list[Held]:
        """The positional arguments."""
        return [one.held for one in self.given if not one.name]


def emit(state: State, name: str, on: Thing | None, call: Invocation, result: Thing | None = None) -> Call:
    """Note a call that is made here. result: what it gives back, if that is there already."""
    node = call.node
    thing = result or state.thing()
    arguments = tuple(_argument(state, one) for one in call.given)
    sure = state.unsure == 0
    made = Call(name, on, arguments, state.span(node), _name_span(state, node), call.open, sure, thing, call.fields)
    if thing.made is None:
        thing.made = made
    if not state.muted:
        state.calls.append(made)
    return made


def given_back(state: State, call: Call, node: Spot) -> Object:
    """What a call gives back, as the value of its expression."""
    return Object(state.node(node, "object", Unknown(f"it is what `{call.name}` gives")), call.result)


def _argument(state: State, given: Given) -> Argument:
    place = state.document.span(given.key) if given.key else None
    return Argument(given.name, told(state, given.held, given.node), place, thing_of(given.held))


def _name_span(state: State, node: Spot) -> Span:
    """The place of the called name: of `a.b.c(...)` that of `c`."""
    called = node.func if isinstance(node, ast.Call) else node
    start, end = state.range(called)
    if isinstance(called, ast.Attribute) and not state.fixed:
        start = max(start, end - len(called.attr))
    return state.program.places.span(start, end)


def text_node(state: State, node: Spot, text: str) -> Node:
    """A name of the program told as a text, such as the first argument of `__setattr__`."""
    return state.node(node, "str", text, text)
