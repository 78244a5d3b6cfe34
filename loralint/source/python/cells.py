"""Where the code of a notebook's cells stands: in strings of a JSON file, of which each may hold a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from loralint.model import Span
from loralint.source.command import Part
from loralint.source.document import Lines
from loralint.source.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loralint.source.document import MarkLike

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Piece(NamedTuple):
    """One string of a cell's source. start, length: where it is in the program. at, end: where its content is in the
    file. line, column: where it starts in the cell, from 0.
    """

    start: int
    length: int
    at: int
    end: int
    cell: int
    line: int
    column: int


class CellMark:
    """A place in a cell: line and column are counted in the cell, the offset in the file."""

    __slots__ = ("_offset", "_places")

    def __init__(self, offset: int, places: CellPlaces) -> None:
        self._offset = offset
        self._places = places

    @property
    def cell(self) -> int:
        """The number of the cell."""
        return self._places.piece(self._offset).cell

    @property
    def index(self) -> int:
        """The offset in the file."""
        return self._places.offset(self._offset)

    @property
    def line(self) -> int:
        """The line in the cell, from 0."""
        return self._places.place(self._offset)[0]

    @property
    def column(self) -> int:
        """The column, from 0."""
        return self._places.place(self._offset)[1]


class CellPlaces(Places):
    """The places of the program that the cells of a notebook make together."""

    __slots__ = ("_steps", "file_text", "pieces", "starts")

    def __init__(self, file: str, file_text: str, program: Lines, pieces: list[Piece]) -> None:
        super().__init__(file, program)
        self.file_text = file_text
        self.pieces = pieces
        self.starts = [piece.start for piece in pieces]
        self._steps: dict[int, tuple[list[int], list[int]]] = {}

    def piece(self, offset: int) -> Piece:
        """Give the string that holds an offset of the program."""
        index = bisect_right(self.starts, offset)
        return self.pieces[index - 1 if index else 0]

    def offset(self, offset: int) -> int:
        """Give the offset in the file of one in the program."""
        piece = self.piece(offset)
        left = min(offset - piece.start, piece.length)
        said, written = self.steps(piece)
        step = bisect_right(said, left) - 1
        return min(written[step] + left - said[step], piece.end)

    def steps(self, piece: Piece) -> tuple[list[int], list[int]]:
        """Give the places after each escape of a string: in what it says, and in the file."""
        found = self._steps.get(piece.start)
        if found is None:
            said, written = [0], [piece.at]
            for escape in _ESCAPE.finditer(self.file_text, piece.at, piece.end):
                said.append(said[-1] + escape.start() - written[-1] + 1)
                written.append(escape.end())
            found = self._steps[piece.start] = said, written
        return found

    def place(self, offset: int) -> tuple[int, int]:
        """Give the line and column in the cell, from 0."""
        piece = self.piece(offset)
        line, column = self.lines.place(min(offset, piece.start + piece.length))
        first, before = self.lines.place(piece.start)
        # several strings of a cell may make one line
        return line - first + piece.line, column - 1 if line > first else column - before + piece.column

    def mark(self, offset: int) -> MarkLike:
        """Give the place of an offset for a Node."""
        return CellMark(offset, self)

    def span(self, start: int, end: int) -> Span:
        """Give a range as the model's record."""
        line, column = self.place(start)
        end_line, end_column = self.place(end)
        cell = self.piece(start).cell
        first, last = self.offset(start), self.offset(end)
        return Span(self.file, first, last, line + 1, column + 1, end_line + 1, end_column + 1, cell)

    def parts(self, text: str, start: int) -> list[Part]:
        """Give a text that stands from `start` on in parts, cut where an escape of the file shifts the places."""
        return list(self._parts(text, start))

    def _parts(self, text: str, start: int) -> Iterator[Part]:
        at = 0
        while at < len(text):
            piece = self.piece(start + at)
            said, written = self.steps(piece)
            left = start + at - piece.start
            step = bisect_right(said, left) - 1
            begins = written[step] + left - said[step]
            escape = said[step + 1] - 1 if step + 1 < len(said) else piece.length
            if left < escape:
                count = min(escape - left, len(text) - at)
                yield Part(text[at : at + count], begins, begins + count)
            else:  # an escape, or the break between two cells
                count, end = 1, written[step + 1] if left < piece.length else piece.end
                yield Part(text[at], min(begins, end), end)
            at += count

    def within(self, offset: int) -> int:
        """Give the offset in the program of one in the file."""
        piece = self.pieces[max(bisect_right(self.pieces, offset, key=_at) - 1, 0)]
        said, written = self.steps(piece)
        step = max(bisect_right(written, offset) - 1, 0)
        escape = said[step + 1] - 1 if step + 1 < len(said) else piece.length
        return piece.start + max(min(said[step] + offset - written[step], escape), 0)


def _at(piece: Piece) -> int:
    return piece.at


class CellLines(Lines):
    """The lines of a notebook's file for offsets in it: a place is that in its cell."""

    __slots__ = ("_places",)

    def __init__(self, places: CellPlaces) -> None:
        super().__init__(places.file_text)
        self._places = places

    def place(self, offset: int) -> tuple[int, int]:
        """Give the 1-based line and column in the cell."""
        line, column = self._places.place(self._places.within(offset))
        return line + 1, column + 1

    def cell(self, offset: int) -> int | None:
        """Give the number of the cell."""
        return self._places.piece(self._places.within(offset)).cell
