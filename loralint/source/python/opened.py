"""Files that a program reads by name: `yaml.safe_load(open("recipe.yaml"))` holds what the file says, at its places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.document import Mark, Node
from loralint.source.elsewhere import FileMark
from loralint.source.python import fold
from loralint.source.python.held import Entries, Items, Mapping, Scalar, Sequence, thing_of
from loralint.source.python.state import DEPTH
from loralint.source.scalars import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.document import Document
    from loralint.source.python.emit import Invocation
    from loralint.source.python.held import Held
    from loralint.source.python.state import State
    from loralint.source.script import Thing

_OPENS = frozenset({"open", "io.open", "codecs.open"})
_TAGS = {str: "str", int: "int", float: "float", bool: "bool", type(None): "null"}


def _load(dialect: str) -> Callable[[State, Invocation], Held | None]:
    def load(state: State, call: Invocation) -> Held | None:
        given = call.arg("stream", 0) or call.arg("fp") or call.arg("file_")
        path = fold.text(given) if dialect == "omegaconf" else None
        name = path or (_name(thing_of(given)) if given is not None else "")
        document = state.program.files(name) if name and state.program.files is not None else None
        fitting = document is not None and (document.format == "toml") == (dialect == "toml")
        if document is None or not fitting or document.problems or len(document.roots) != 1:
            return None
        return held_of(state, document, dialect)

    return load


def held_of(state: State, document: Document, dialect: str, root: Node | None = None) -> Held:
    """What a loader makes of a file of one document. root: its tree, if it is made of several files."""
    state.loaded[document.file] = document
    return _held(state, document, root or document.roots[0], dialect, 0)


def _name(thing: Thing | None) -> str:
    """The name of the file that was opened to be read, also of what its `read()` gave; else empty."""
    call = thing.made if thing is not None else None
    if call is not None and call.name == "read" and call.on is not None and not call.args:
        call = call.on.made
    if call is None or call.name not in _OPENS or call.on is not None:
        return ""
    mode, first = call.arg("mode", 1), call.arg("file", 0)
    reads = mode is None or (isinstance(mode.node.native, str) and mode.node.native[:1] == "r")
    known = reads and first is not None and first.node.tag == "str"
    return str(first.node.native) if known and first is not None else ""


def _held(state: State, document: Document, node: Node, dialect: str, depth: int) -> Held:
    """What the loader makes of a node of the file."""
    state.spend()
    marks = _marks(document, node)
    place = Node(node.kind, node.tag, *marks)
    if node.kind == "scalar" or depth >= DEPTH:
        return Scalar(_scalar(node, marks, dialect))
    if node.kind == "sequence":
        return Sequence(
            place, Items(items=tuple(_held(state, document, one, dialect, depth + 1) for one in node.items))
        )
    entries = Entries()
    for pair in node.pairs:
        key = value(pair.key_node, dialect) if pair.key_node.kind == "scalar" else pair.key
        told = Node("scalar", "str", *_marks(document, pair.key_node), pair.key, False, pair.key)
        entries[key] = (told, _held(state, document, pair.value, dialect, depth + 1))
    return Mapping(place, entries, dotted=dialect == "omegaconf")


def _marks(document: Document, node: Node) -> tuple[Mark, Mark]:
    start, end = node.start_mark, node.end_mark
    if isinstance(start, FileMark) and isinstance(end, FileMark):
        return start, end
    return FileMark(start.index, document.lines, document.file), FileMark(end.index, document.lines, document.file)


def _scalar(node: Node, marks: tuple[Mark, Mark], dialect: str) -> Node:
    made = value(node, dialect) if node.kind == "scalar" else None
    tag = _TAGS.get(type(made), "unknown") if node.kind == "scalar" else "unknown"
    return Node("scalar", tag, *marks, node.raw, node.plain, made)


KNOWN: dict[str, Callable[[State, Invocation], Held | None]] = {
    **dict.fromkeys(("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load"), _load("pyyaml")),
    "omegaconf.OmegaConf.load": _load("omegaconf"),
    **dict.fromkeys(("json.load", "json.loads"), _load("json")),
    **dict.fromkeys(("tomllib.load", "tomllib.loads", "tomli.load", "toml.load"), _load("toml")),
}
