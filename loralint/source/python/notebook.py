"""Jupyter notebooks: the code of all cells is one program, in the order of the file.

A cell's number counts all cells of the notebook, also those of text, from 1, as editors show them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source import json as json_reader
from loralint.source.document import Fault, Lines, Problem
from loralint.source.places import Places
from loralint.source.python.cellfile import Cell, String, cells_of
from loralint.source.python.cells import CellPlaces, Piece
from loralint.source.python.magics import Magics, blanked, has_magics, untangle
from loralint.source.python.program import Program, checked, odd_lines
from loralint.source.python.script import follow_program
from loralint.source.script import Script

if TYPE_CHECKING:
    from loralint.source.command import Files
    from loralint.source.document import Document
    from loralint.source.python import Files as Opened
    from loralint.source.python import Modules


def read(doc: Document, files: Opened | None = None, modules: Modules | None = None) -> Script:
    """Read a document of format "notebook"."""
    try:
        cells = cells_of(doc)
    except (ValueError, IndexError, RecursionError, Fault):
        json_reader.read(doc)  # says what is wrong with the JSON
        doc.roots = []
        if not doc.problems:
            doc.fault("syntax", "this is no notebook", 0)
        return Script(doc, ())
    language = _language(doc)
    if language and "python" not in language.lower():
        return Script(doc, (), unread=("a notebook of another language than Python",))
    return _program(doc, cells, files, modules)


def _program(doc: Document, cells: list[Cell], opened: Opened | None, modules: Modules | None) -> Script:
    bare = Program(doc, "", [], Places(doc.file, doc.lines), files=opened, modules=modules)
    found = [_untangled(bare, cell) for cell in cells]
    starts = [0]
    for cell in cells:
        starts.append(starts[-1] + len(cell.text) + 1)
    texts = [one.python for one in found]
    text = "".join(f"{one}\n" for one in texts)
    places = CellPlaces(doc.file, doc.text, Lines(text), _pieces(cells, starts))
    program = _with_text(bare, text)._replace(places=places)
    shell = tuple(
        line._replace(start=start + line.start) for one, start in zip(found, starts, strict=False) for line in one.shell
    )
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


def _untangled(program: Program, cell: Cell) -> Magics:
    """Take the lines that are no Python out of a cell that is not Python as it stands."""
    text = cell.text
    if not has_magics(text):
        return Magics(text)
    try:
        checked(_with_text(program, text))
    except Fault:
        return untangle(text)
    return Magics(text)


def _without_broken(program: Program, cells: list[Cell], texts: list[str]) -> tuple[Program, tuple[str, ...]]:
    """Leave out the cells that Python does not take: the others run without them."""
    kept, unread = [], []
    for cell, text in zip(cells, texts, strict=True):
        try:
            checked(_with_text(program, text))
        except Fault as fault:
            unread.append(f"cell {cell.number}: {fault.message}")
            kept.append(blanked(text))
        else:
            kept.append(text)
    whole = "".join(f"{one}\n" for one in kept)
    return _with_text(program, whole), tuple(unread)


def _with_text(program: Program, text: str) -> Program:
    starts = Lines(text).starts
    return program._replace(text=text, starts=starts, odd=odd_lines(text, starts))


def _pieces(cells: list[Cell], starts: list[int]) -> list[Piece]:
    """Tell where each string of the cells stands in the program, in the file and in its cell."""
    found = [Piece(0, 0, 0, 0, 1, 0, 0)] if not cells else []
    for cell, start in zip(cells, starts, strict=False):
        at, lines, before = start, Lines(cell.text), found[-1].end if found else 0
        for one in cell.strings or (String("", before, before),):
            line, column = lines.place(at - start)
            found.append(Piece(at, len(one.text), one.start, one.end, cell.number, line - 1, column - 1))
            at += len(one.text)
    return found


def _language(doc: Document) -> str:
    node = doc.root
    for key in ("metadata", "kernelspec", "language"):
        node = node.get(key) if node is not None and node.kind == "mapping" else None
    return node.raw if node is not None else ""
