"""A text that stands inside another file in another form, as base64: all that is said of it is said of that scalar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.inner import InnerDocument, InnerPlaces, Piece, every, placed

if TYPE_CHECKING:
    from loralint.source.document import Document, Lines, Node


class WholePlaces(InnerPlaces):
    """The places of such a text: each of them is all of it."""

    __slots__ = ("_end",)

    def __init__(self, file: str, lines: Lines, start: int, end: int) -> None:
        super().__init__(file, lines, [Piece(0, start, 0)])
        self._end = end

    def end(self, at: int) -> int:
        """Give the end of all."""
        return self._end if at else super().end(at)


class EncodedDocument(InnerDocument):
    """Such a text as a document: its nodes are written as they stand in it, and their places are all of it."""

    __slots__ = ("_ranges",)

    def __init__(self, outer: Document, name: str, parsed: Document, places: WholePlaces) -> None:
        super().__init__(outer, name, parsed, places)
        self._ranges = {id(one): (one.start, one.end) for one in every(parsed.roots)}

    def written(self, node: Node) -> str:
        """Give a node as it is written in the text itself."""
        start, end = self._ranges.get(id(node), (0, 0))
        return self._own[start:end]


def read_encoded(outer: Document, node: Node, text: str, name: str) -> InnerDocument:
    """Read the text that a scalar holds in another form."""
    from loralint.source.read import read_text

    parsed, places = read_text(text.lstrip("\ufeff"), name), WholePlaces(outer.file, outer.lines, node.start, node.end)
    return placed(EncodedDocument(outer, name, parsed, places), parsed)
