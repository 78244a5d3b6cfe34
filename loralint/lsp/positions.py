"""Offsets in code points, as our records count, to and from an editor's lines and code units."""

from __future__ import annotations

from lsprotocol import types

from loralint.source.lines import Lines

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Positions:
    """The places of one text. encoding: of the editor's columns; mark: characters at the start that no offset counts.

    Lines end with LF, CR LF or CR and nothing else, as the protocol says.
    """

    def __init__(self, text: str, encoding: str, mark: int = 0) -> None:
        self._lines = Lines(text)
        self._codec, self._size = _UNITS[encoding]
        self._mark = mark

    def position(self, offset: int) -> types.Position:
        """The place of an offset; one behind the end is the end."""
        offset = min(offset + self._mark, len(self._lines.text))
        line, column = self._lines.place(offset)
        return types.Position(line - 1, self._units(self._lines.text[offset - column + 1 : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """The range of two offsets."""
        return types.Range(self.position(start), self.position(end))

    def in_line(self, start: int, end: int) -> types.Range:
        """The same, cut at the end of its first line, so that a whole table is not underlined."""
        return self.range(start, min(end, self._end(self._lines.place(start + self._mark)[0]) - self._mark))

    def line(self, number: int) -> types.Range:
        """All of a line, counted from 1; the last one for a number that is too large."""
        number = min(max(number, 1), len(self._lines.starts))
        return self.range(self._lines.starts[number - 1] - self._mark, self._end(number) - self._mark)

    def offset(self, position: types.Position) -> int:
        """The offset of a place; one behind the end of its line is that end."""
        starts = self._lines.starts
        if position.line >= len(starts):
            return len(self._lines.text) - self._mark
        at, end, left = starts[position.line], self._end(position.line + 1), position.character
        while at < end and left > 0:
            left -= self._units(self._lines.text[at])
            at += 1
        return max(at - self._mark, 0)

    def _end(self, line: int) -> int:
        """The offset of the break that ends a line, counted from 1."""
        starts, text = self._lines.starts, self._lines.text
        end = starts[line] if line < len(starts) else len(text)
        while end > starts[line - 1] and text[end - 1] in "\r\n":
            end -= 1
        return end

    def _units(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode(self._codec)) // self._size
