"""Texts that a script puts together and then runs (`eval "$CMD"`, `bash -c "$CMD"`): where their characters come from.

Such a text gets offsets beyond every real file's, so that it is parsed like any other; what is found in it is brought
back to the places where the pieces stand when it is handed out.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from loralint.source.command import Part
from loralint.source.shell.words import Field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loralint.source.shell.scope import Scope

_BEYOND = 1 << 40
_DEEPEST = 16  # texts made of texts


def _offset(piece: tuple[int, Part]) -> int:
    return piece[0]


class Texts:
    """The texts that were put together so far."""

    __slots__ = ("_free", "_starts", "_texts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._texts: list[list[tuple[int, Part]]] = []
        self._free = _BEYOND

    def join(self, fields: Iterable[Field], scope: Scope) -> tuple[str, int]:
        """The fields with blanks between as one text, and its offset. What is unknown becomes a variable of its own."""
        start, written, pieces = self._free, "", []
        for index, field in enumerate(fields):
            if index:
                pieces.append((start + len(written), Part(" ", field.start, field.start)))
                written += " "
            for part in field.parts:
                text = part.text
                if part.why:
                    name = f"__{start}_{len(written)}"
                    scope.names[name] = (Field((part,), field.start, field.end, field.quoted),)
                    text = f"${{{name}}}"
                pieces.append((start + len(written), part._replace(text=text)))
                written += text
        self._starts.append(start)
        self._texts.append(pieces)
        self._free += len(written) + 1
        return written, start

    def settle(self, field: Field) -> Field:
        """The field with the places of the file."""
        parts = tuple(real for part in field.parts for real in self._real(part, 0))
        start, end = field.start, field.end
        if start >= _BEYOND:
            start, end = (parts[0].start, parts[-1].end) if parts else (0, 0)
        return Field(parts, start, max(start, end), field.quoted)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The places of the file for a stretch of a text."""
        if start < _BEYOND:
            return start, end
        parts = list(self._real(Part("?" * (end - start), start, end), 0))
        starts = [part.start for part in parts] or [0]
        return min(starts), max([part.end for part in parts] or [0])

    def _real(self, part: Part, depth: int) -> Iterator[Part]:
        if part.start < _BEYOND or depth > _DEEPEST or not self._starts:
            yield part
            return
        pieces = self._texts[bisect_right(self._starts, part.start) - 1]
        exact = part.end - part.start == len(part.text)
        index = max(0, bisect_right(pieces, part.start, key=lambda one: one[0]) - 1)
        for at, piece in pieces[index:]:
            if at >= part.end:
                return
            first, last = max(at, part.start), min(at + len(piece.text), part.end)
            if first >= last:
                continue
            whole = piece.end - piece.start == len(piece.text)
            real = piece.start + first - at if whole else piece.start
            text = part.text[first - part.start : last - part.start] if exact else part.text
            yield from self._real(Part(text, real, real + last - first if whole else piece.end, part.why), depth + 1)
            if not exact:
                return
