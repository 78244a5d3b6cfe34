"""From offsets in a text to places in the file that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Span
from loralint.source.command import Part
from loralint.source.document import Mark

if TYPE_CHECKING:
    from loralint.source.document import Lines, MarkLike


class Places:
    """The places of a text that is a file of its own."""

    __slots__ = ("file", "lines")

    def __init__(self, file: str, lines: Lines) -> None:
        self.file = file
        self.lines = lines

    def mark(self, offset: int) -> MarkLike:
        """Give the place of an offset for a Node."""
        return Mark(offset, self.lines)

    def span(self, start: int, end: int) -> Span:
        """Give a range as the model's record."""
        return self.lines.span(self.file, start, end)

    def parts(self, text: str, start: int) -> list[Part]:
        """Give a text that stands from `start` on as the stretches that stand in the file as they are."""
        return [Part(text, start, start + len(text))]
