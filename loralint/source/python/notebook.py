"""Jupyter notebooks: the code of all cells is one program, in the order of the file.

A cell's number counts all cells of the notebook, also those of text, from 1, as editors show them.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, NamedTuple

from loralint.source import json as json_reader
from loralint.source.document import Fault, Lines, Mark, Node, Pair, Problem
from loralint.source.python.cells import CellPlaces, Piece
from loralint.source.python.magics import Magics, blanked, untangle
from loralint.source.python.program import Program
from loralint.source.python.script import checked, follow_program
from loralint.source.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.command import Files
    from loralint.source.document import Document

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_CODE = frozenset({"source", "input"})
# State of the page's own controls: large, and says nothing of the run.
_LARGE = frozenset({"widgets", "vscode"})


class _String(NamedTuple):
    """A string of the file: what it says, and where its content stands."""

    text: str
    start: int
    end: int


class _Cell(NamedTuple):
    """One cell of code. number: its place among all cells."""

    number: int
    strings: tuple[_String, ...]

    @property
    def text(self) -> str:
        return "".join(one.text for one in self.strings)


def read(doc: Document) -> Script:
    """Read a document of format "notebook"."""
    try:
        cells = _cells(doc)
    except (ValueError, IndexError, RecursionError, Fault):
        json_reader.read(doc)  # says what is wrong with the JSON
        doc.roots = []
        if not doc.problems:
            doc.fault("syntax", "this is no notebook", 0)
        return Script(doc, ())
    language = _language(doc)
    if language and "python" not in language.lower():
        return Script(doc, (), unread=("a notebook of another language than Python",))
    return _program(doc, cells)


def _program(doc: Document, cells: list[_Cell]) -> Script:
    found = [_untangled(cell) for cell in cells]
    starts = [0]
    for cell in cells:
        starts.append(starts[-1] + len(cell.text) + 1)
    texts = [one.python for one in found]
    text = "".join(f"{one}\n" for one in texts)
    places = CellPlaces(doc.file, doc.text, Lines(text), _pieces(cells, starts))
    program = Program(doc, text, places.lines, places, text.isascii())
    shell = tuple((line, start + at) for one, start in zip(found, starts, strict=False) for line, at in one.shell)
    files = tuple(_moved(file, start) for one, start in zip(found, starts, strict=False) for file in one.files)
    unread: tuple[str, ...] = ()
    try:
        tree = checked(program)
    except Fault as fault:
        if fault.kind == "too-large":
            doc.problems.append(Problem(fault.kind, fault.message, places.span(0, 1)))
            return Script(doc, (), shell, places=places, files=files)
        program, unread = _without_broken(program, cells, texts)
        try:
            tree = checked(program)
        except Fault as again:
            doc.problems.append(Problem(again.kind, again.message, places.span(again.at, again.at + 1)))
            return Script(doc, (), shell, places=places, files=files)
    script = follow_program(program, tree)
    return script._replace(shell=shell, files=files, unread=(*unread, *script.unread))


def _moved(file: Files, start: int) -> Files:
    return file._replace(start=file.start + start)


def _untangled(cell: _Cell) -> Magics:
    text = cell.text
    return untangle(text) if re.search(r"(?m)^[^\n]*[%!?]", text) else Magics(text)


def _without_broken(program: Program, cells: list[_Cell], texts: list[str]) -> tuple[Program, tuple[str, ...]]:
    """Leave out the cells that Python does not take: the others run without them."""
    kept, unread = [], []
    for cell, text in zip(cells, texts, strict=True):
        try:
            checked(program._replace(text=text, lines=Lines(text), ascii=text.isascii()))
        except Fault as fault:
            unread.append(f"cell {cell.number}: {fault.message}")
            kept.append(blanked(text))
        else:
            kept.append(text)
    whole = "".join(f"{one}\n" for one in kept)
    return program._replace(text=whole, lines=Lines(whole), ascii=whole.isascii()), tuple(unread)


def _pieces(cells: list[_Cell], starts: list[int]) -> list[Piece]:
    """Tell where each string of the cells stands in the program, in the file and in its cell."""
    found = [Piece(0, 0, 0, 0, 1, 0, 0)] if not cells else []
    for cell, start in zip(cells, starts, strict=False):
        at, lines = start, Lines(cell.text)
        for one in cell.strings or (_String("", 0, 0),):
            line, column = lines.place(at - start)
            found.append(Piece(at, len(one.text), one.start, one.end, cell.number, line - 1, column - 1))
            at += len(one.text)
    return found


def _language(doc: Document) -> str:
    node = doc.root
    for key in ("metadata", "kernelspec", "language"):
        node = node.get(key) if node is not None and node.kind == "mapping" else None
    return node.raw if node is not None else ""


# the file


def _cells(doc: Document) -> list[_Cell]:
    """Find the cells of code, and keep the rest of the file as the document's root. ValueError for broken JSON."""
    text = doc.text
    cells: list[_Cell] = []
    pairs: list[Pair] = []
    count = 0

    def cell(at: int) -> int:
        nonlocal count
        count += 1
        found, end = _cell(text, at, count)
        if found:
            cells.append(found)
        return end

    def member(key: _String, at: int) -> int:
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

    def member(key: _String, value: int) -> int:
        if key.text in _LARGE:
            return _passed(doc.text, value)
        node, end = _value(doc, value)
        pairs.append(_pair(doc, key, node))
        return end

    end = _object(doc.text, at, member)
    return _mapping(doc, at, end, pairs), end


def _value(doc: Document, at: int) -> tuple[Node, int]:
    return json_reader.value_at(doc, at)


def _pair(doc: Document, key: _String, node: Node) -> Pair:
    marks = Mark(key.start - 1, doc.lines), Mark(key.end + 1, doc.lines)
    return Pair(key.text, Node("scalar", "str", *marks, key.text, False, key.text), node)


def _mapping(doc: Document, start: int, end: int, pairs: list[Pair]) -> Node:
    node = Node("mapping", "map", Mark(start, doc.lines), Mark(end, doc.lines))
    node.pairs = pairs
    return node


def _cell(text: str, at: int, number: int) -> tuple[_Cell | None, int]:
    """Read one cell; None if it holds no code."""
    strings: list[_String] = []
    kind = language = ""

    def member(key: _String, value: int) -> int:
        nonlocal kind, language
        if key.text in _CODE and text[value] in '"[':
            return _source(text, value, strings)
        if key.text in {"cell_type", "language"} and text[value] == '"':
            found = _string(text, value)
            kind, language = (found.text, language) if key.text == "cell_type" else (kind, found.text)
            return found.end + 1
        return _passed(text, value)

    end = _object(text, at, member)
    return (_Cell(number, tuple(strings)) if kind == "code" and language in {"", "python"} else None), end


def _source(text: str, at: int, strings: list[_String]) -> int:
    def one(value: int) -> int:
        strings.append(_string(text, value))
        return strings[-1].end + 1

    return one(at) if text[at] == '"' else _array(text, at, one)


def _string(text: str, at: int) -> _String:
    if text[at] != '"':
        raise ValueError
    found, end = scanstring(text, at + 1, True)
    return _String(found, at + 1, end - 1)


def _passed(text: str, at: int) -> int:
    """Pass over a value, such as the outputs of a cell."""
    return int(_DECODER.raw_decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _object(text: str, at: int, take: Callable[[_String, int], int]) -> int:
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
