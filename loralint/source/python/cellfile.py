"""The JSON of a notebook: its cells of code with their exact places; outputs are passed over."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, NamedTuple

from loralint.source import json as json_reader
from loralint.source.document import Mark, Node, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.document import Document


_SPACE = re.compile(r"[ \t\n\r]*")


_DECODER = json.JSONDecoder()


_CODE = frozenset({"source", "input"})


# State of the page's own controls: large, and says nothing of the run.
_LARGE = frozenset({"widgets", "vscode"})


class String(NamedTuple):
    """A string of the file: what it says, and where its content stands."""

    text: str
    start: int
    end: int


class Cell(NamedTuple):
    """One cell of code. number: its place among all cells."""

    number: int
    strings: tuple[String, ...]

    @property
    def text(self) -> str:
        """Its code, as Jupyter joins it."""
        return "".join(one.text for one in self.strings)


def cells_of(doc: Document) -> list[Cell]:
    """Find the cells of code, and keep the rest of the file as the document's root. ValueError for broken JSON."""
    text = doc.text
    cells: list[Cell] = []
    pairs: list[Pair] = []
    count = 0

    def cell(at: int) -> int:
        nonlocal count
        count += 1
        found, end = _cell(text, at, count)
        if found:
            cells.append(found)
        return end

    def member(key: String, at: int) -> int:
        if key.text == "cells":
            return _array(text, at, cell)
        if key.text == "worksheets":  # of nbformat 3
            return _array(text, at, lambda sheet: _object(text, sheet, member))
        node, end = _metadata(doc, at) if key.text == "metadata" else _value(doc, at)
        pairs.append(_pair(doc, key, node))
        return end

    start = _skip(text, 0)
    end = _object(text, start, member)
    if text[_skip(text, end) :]:
        raise ValueError
    doc.roots = [_mapping(doc, start, end, pairs)]
    return cells


def _metadata(doc: Document, at: int) -> tuple[Node, int]:
    pairs: list[Pair] = []

    def member(key: String, value: int) -> int:
        if key.text in _LARGE:
            return _passed(doc.text, value)
        node, end = _value(doc, value)
        pairs.append(_pair(doc, key, node))
        return end

    end = _object(doc.text, at, member)
    return _mapping(doc, at, end, pairs), end


def _value(doc: Document, at: int) -> tuple[Node, int]:
    return json_reader.value_at(doc, at)


def _pair(doc: Document, key: String, node: Node) -> Pair:
    marks = Mark(key.start - 1, doc.lines), Mark(key.end + 1, doc.lines)
    return Pair(key.text, Node("scalar", "str", *marks, key.text, False, key.text), node)


def _mapping(doc: Document, start: int, end: int, pairs: list[Pair]) -> Node:
    node = Node("mapping", "map", Mark(start, doc.lines), Mark(end, doc.lines))
    node.pairs = pairs
    return node


def _cell(text: str, at: int, number: int) -> tuple[Cell | None, int]:
    """Read one cell; None if it holds no code."""
    strings: list[String] = []
    kind = language = ""

    def member(key: String, value: int) -> int:
        nonlocal kind, language
        if key.text in _CODE and text[value] in '"[':
            return _source(text, value, strings)
        if key.text in {"cell_type", "language"} and text[value] == '"':
            found = _string(text, value)
            kind, language = (found.text, language) if key.text == "cell_type" else (kind, found.text)
            return found.end + 1
        return _passed(text, value)

    end = _object(text, at, member)
    return (Cell(number, tuple(strings)) if kind == "code" and language in {"", "python"} else None), end


def _source(text: str, at: int, strings: list[String]) -> int:
    def one(value: int) -> int:
        strings.append(_string(text, value))
        return strings[-1].end + 1

    return one(at) if text[at] == '"' else _array(text, at, one)


def _string(text: str, at: int) -> String:
    if text[at] != '"':
        raise ValueError
    found, end = scanstring(text, at + 1, True)
    return String(found, at + 1, end - 1)


def _passed(text: str, at: int) -> int:
    """Pass over a value, such as the outputs of a cell."""
    return int(_DECODER.raw_decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _object(text: str, at: int, take: Callable[[String, int], int]) -> int:
    """Go through an object: `take` gets each key and the offset of its value, and gives the offset after that."""

    def member(key_at: int) -> int:
        key = _string(text, key_at)
        colon = _skip(text, key.end + 1)
        if text[colon] != ":":
            raise ValueError
        return take(key, _skip(text, colon + 1))

    return _elements(text, at, "{}", member)


def _array(text: str, at: int, take: Callable[[int], int]) -> int:
    """Go through an array: `take` gets the offset of each value, and gives the one after it."""
    return _elements(text, at, "[]", take)


def _elements(text: str, at: int, brackets: str, take: Callable[[int], int]) -> int:
    if text[at] != brackets[0]:
        raise ValueError
    at = _skip(text, at + 1)
    while text[at] != brackets[1]:
        at = _skip(text, take(at))
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != brackets[1]:
            raise ValueError
    return at + 1
