"""Where the lines of a text start, and places that are offsets until somebody asks for more."""

from __future__ import annotations

import re
from bisect import bisect_right

from loralint.model import Span


class Lines:
    """Where the lines of a text start, found when first asked for. Breaks are LF, CR LF and CR, as editors count."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The offset of every line's first character."""
        if self._starts is None:
            text = self.text
            starts = [0]
            if "\r" in text:
                starts += [match.end() for match in re.finditer(r"\r\n?|\n", text)]
            else:
                at = text.find("\n")
                while at >= 0:
                    starts.append(at + 1)
                    at = text.find("\n", at + 1)
            self._starts = starts
        return self._starts

    def place(self, offset: int) -> tuple[int, int]:
        """Give the 1-based line and column of an offset."""
        starts = self._starts or self.starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def cell(self, offset: int) -> int | None:  # noqa: ARG002 - a notebook's lines tell them apart
        """Give the number of the cell that an offset lies in, None in a file that has none."""
        return None

    def origin(self, offset: int) -> tuple[str, int]:
        """Give the file that an offset lies in and the offset there, "" for the document's own."""
        return "", offset

    def span(self, file: str, start: int, end: int) -> Span:
        """Give a range as the model's record. file: the document's own."""
        origin, first = self.origin(start)
        places = *self.place(start), *self.place(end)
        return Span(origin or file, first, first + end - start, *places, self.cell(start))


class Mark:
    """A place of which only the offset is known yet."""

    __slots__ = ("_lines", "index")

    def __init__(self, index: int, lines: Lines) -> None:
        self.index = index
        self._lines = lines

    def until(self, end: Mark, file: str) -> Span:
        """Give the range up to another place as the model's record, the line and column of each looked up at once."""
        return self._lines.span(file, self.index, end.index)

    @property
    def line(self) -> int:
        """The line, counted from 0."""
        return self._lines.place(self.index)[0] - 1

    @property
    def column(self) -> int:
        """The column, counted from 0."""
        return self._lines.place(self.index)[1] - 1

    @property
    def cell(self) -> int | None:
        """The cell of a notebook, None elsewhere."""
        return self._lines.cell(self.index)
