"""The tree that a start is read from: one section for each class or function, with the arguments at their places."""

from __future__ import annotations

import copy
from collections.abc import Iterable

from loralint.frameworks.python.classes import Known
from loralint.model import Span, Unknown
from loralint.source.document import Document, Mark, Node, Pair
from loralint.source.script import Argument, Call

# enumerations of the libraries whose members are written in lower case where a text is taken
_LOWER = frozenset({"IntervalStrategy", "SchedulerType", "OptimizerNames", "EvaluationStrategy", "SaveStrategy",
                    "HubStrategy", "FSDPOption", "LoggingStrategy"})  # fmt: skip
_UPPER = frozenset({"TaskType", "PeftType"})
# whose classes the lists of keywords are of; a name without a module comes by an import of everything
_LIBRARIES = frozenset({"transformers", "trl", "peft", ""})


class _At:
    """A place taken from a span."""

    __slots__ = ("cell", "column", "file", "index", "line")

    def __init__(self, file: str, index: int, line: int, column: int, cell: int | None) -> None:
        self.file = file
        self.index = index
        self.line = line
        self.column = column
        self.cell = cell


def section(document: Document, call: Call, what: Known | None = None) -> Pair:
    """One call as a pair: its name and a mapping of its arguments, the positional ones under their parameters' names.

    Of a class method, the class stands under the key `class`. The tag "own" is on the key of what a class of the
    program declares itself, and on the mapping where nobody sees the class: its module is no part of the library.
    The tag "placed" is on the key of what goes by its place, whatever the release calls it. Python takes nothing twice,
    so what a keyword gives as well is in an order that we do not know, or in a mapping of another branch.
    """
    name = call.name.rpartition(".")[2]
    seen = call.name.partition(".")[0] in _LIBRARIES and not call.name.startswith(".")
    mapping = Node("mapping", "map" if seen else "own", *_ends(call.span))
    pairs: dict[str, Pair] = {}
    order = iter(what.order if what is not None else ())
    named = {given.name for given in call.args if given.name}
    for given in call.args:
        key = given.name or next(order, "")
        if key and key not in pairs and (given.name or key not in named):
            tag = "own" if key in call.fields else "str" if given.name else "placed"
            pairs[key] = Pair(key, _key(key, given, document, tag), readable(given.node))
    owner = call.name.rpartition(".")[0].rpartition(".")[2]
    if name == "from_pretrained" and owner:
        pairs["class"] = Pair("class", *2 * (text_at(owner, call.name_span),))
    mapping.pairs = list(pairs.values())
    return Pair(name, text_at(name, call.name_span), mapping)


def assignment(key: str, place: Span, value: Node) -> Pair:
    """What an attribute is given, as a keyword would give it."""
    return Pair(key, text_at(key, place), readable(value))


def tree(document: Document, sections: Iterable[Pair]) -> Document:
    """The program's text with these sections as its root, which spans all of it."""
    made = copy.copy(document)
    end = Mark(len(document.text), document.lines)
    root = Node("mapping", "map", Mark(0, document.lines), end)
    root.pairs = sorted(sections, key=lambda pair: pair.key_node.start)
    made.roots = [root]
    made._root = None  # noqa: SLF001 - a copy of our own, whose root is not yet asked for
    made.format = "python"
    return made


def readable(node: Node) -> Node:
    """The same value with members of enumerations as their words, and other names as what nobody knows here."""
    if node.kind == "mapping":
        made = Node(node.kind, node.tag, node.start_mark, node.end_mark)
        made.pairs = [pair._replace(value=readable(pair.value)) for pair in node.pairs]
        return made
    if node.kind == "sequence":
        made = Node(node.kind, node.tag, node.start_mark, node.end_mark)
        made.items = [readable(item) for item in node.items]
        return made
    if node.tag != "name":
        made = Node("scalar", node.tag, node.start_mark, node.end_mark, node.raw, False, node.native)
        made.items = node.items
        return made
    word = _word(node.raw)
    native = Unknown(f"`{node.raw}` is known only when the program runs") if word is None else word
    return Node("scalar", "name", node.start_mark, node.end_mark, node.raw if word is None else word, False, native)


def _word(name: str) -> str | None:
    owner, _, last = name.rpartition(".")
    owner = owner.rpartition(".")[2]
    if owner in _LOWER:
        return last.lower()
    if owner in _UPPER:
        return last
    return name if owner == "torch" else None


def _key(key: str, given: Argument, document: Document, tag: str) -> Node:
    span = given.name_span or document.span(given.node)
    return text_at(key, span, tag)


def text_at(text: str, span: Span, tag: str = "str") -> Node:
    """A text as a node at a place."""
    return Node("scalar", tag, *_ends(span), text, False, text)


def _ends(span: Span) -> tuple[_At, _At]:
    start = _At(span.file, span.start, span.line - 1, span.column - 1, span.cell)
    return start, _At(span.file, span.end, span.end_line - 1, span.end_column - 1, span.cell)
