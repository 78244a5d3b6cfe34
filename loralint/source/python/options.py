"""Options of the command line that argparse takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import fold
from loralint.source.python.argv import own_line
from loralint.source.python.emit import Invocation
from loralint.source.python.held import Attributes, Instance, Scalar, name_of
from loralint.source.python.state import Option
from loralint.source.python.walk import told
from loralint.source.script import Argument

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.state import State
    from loralint.source.script import Thing


REQUIRED = "the command line must give it"


def declare(state: State, name: str, default: Held | None, place: Node) -> None:
    """Note an option of the command line and its default, None where there is none."""
    node = told(state, default) if default is not None else _unknown(place, REQUIRED)
    state.arguments[name] = Argument(name, node, state.document.span(place))


def _unknown(place: Node, reason: str) -> Node:
    return Node("scalar", "unknown", place.start_mark, place.end_mark, place.raw, True, Unknown(reason))


def add_argument(state: State, _thing: Thing, call: Invocation) -> Held | None:
    """Note what `parser.add_argument(...)` declares; the call itself is told as any other."""
    flags = [text for one in call.placed() if (text := fold.text(one))]
    if not flags:
        return None
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    name = fold.text(call.arg("dest")) or long.lstrip("-").replace("-", "_")
    place = call.placed()[0].node
    action = fold.text(call.arg("action")) if call.arg("action") is not None else "store"
    kind, plain = name_of(call.arg("type")), action == "store" and call.arg("nargs") is None and not call.open
    state.options.update((flag, Option(name, kind, action or "", plain)) for flag in flags if flag.startswith("-"))
    declare(state, name, None if fold.value(call.arg("required")) is True else _default(call, place), place)
    return None


def _default(call: Invocation, place: Node) -> Held:
    default, action = call.arg("default"), fold.text(call.arg("action"))
    if default is None:
        absent = {"store_true": False, "store_false": True}.get(action or "")
        tag = "null" if absent is None else "bool"
        return Scalar(Node("scalar", tag, place.start_mark, place.end_mark, str(absent), True, absent))
    return converted(default, name_of(call.arg("type")))


def converted(default: Held, kind: str) -> Held:
    """A default that is a text goes through `type` as what the command line gives does."""
    text = fold.text(default)
    if text is None or kind not in {"int", "float"}:
        return default
    try:
        value = int(text[:400]) if kind == "int" else float(text)
    except ValueError:
        return default
    place = default.node
    return Scalar(Node("scalar", kind, place.start_mark, place.end_mark, text, True, value))


def set_defaults(state: State, _thing: Thing, call: Invocation) -> Held | None:
    """Note what `parser.set_defaults(...)` changes; the call itself is told as any other."""
    for one in call.given:
        if one.name and one.key:
            declare(state, one.name, one.held, one.key)
    if call.open:
        for name, known in state.arguments.items():
            place = known.node
            state.arguments[name] = known._replace(node=_unknown(place, "the script takes its default from elsewhere"))
    return None


def parsed(state: State, call: Invocation) -> Instance:
    """What the command line gives, as an object that has every option."""
    node = state.node(call.node, "object", Unknown("what the command line gives"))
    own = own_line(state, call)
    return Instance(node, None, Attributes() if own is None else own, state.thing(), parsed=True)
