"""A scalar's text in parts with their places, and what is filled in where it names something else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from loralint.source.command import Part
from loralint.source.inner import pieces_of

if TYPE_CHECKING:
    import re

    from loralint.source.document import Document, Node

# Gives the parts of a stretch of the text, by its offsets.
Cut = Callable[[int, int], Iterable[Part]]


def parts_of(document: Document, node: Node) -> list[Part]:
    """The text of a scalar; what is written otherwise than it is, an escape or a fold, stands at one place."""
    parts: list[Part] = []
    at, end = 0, node.start
    for piece in pieces_of(document.text, node)[0]:
        if piece.at > at:
            parts.append(Part(node.raw[at : piece.at], end, end))
        text = node.raw[piece.at : piece.at + piece.length]
        if text:
            parts.append(Part(text, piece.start, piece.start + len(text)))
        at, end = piece.at + len(text), piece.start + len(text)
    if at < len(node.raw):
        parts.append(Part(node.raw[at:], end, end))
    return parts


def fill(
    raw: str, parts: list[Part], pattern: re.Pattern[str], by: Callable[[re.Match[str], Cut], Iterable[Part] | None]
) -> list[Part]:
    """The parts with others in place of each match. by: gives those, None for a match that stays as it is."""
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part.text))

    def cut(start: int, end: int) -> Iterator[Part]:
        return _cut(parts, starts, start, end)

    found: list[Part] = []
    at = 0
    for match in pattern.finditer(raw):
        made = by(match, cut)
        if made is not None:
            found += [*cut(at, match.start()), *made]
            at = match.end()
    return [*found, *cut(at, len(raw))]


def _cut(parts: list[Part], starts: list[int], start: int, end: int) -> Iterator[Part]:
    for index in range(max(bisect_right(starts, start) - 1, 0), len(parts)):
        part, first = parts[index], starts[index]
        if first >= end:
            return
        text = part.text[max(start - first, 0) : end - first]
        if text:
            exact = part.end - part.start == len(part.text)
            begin = part.start + max(start - first, 0) if exact else part.start
            yield Part(text, begin, begin + len(text) if exact else part.end, part.why)
