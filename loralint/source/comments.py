"""Where comments stand. In YAML they lie between the scalars, so a `#` inside a text is never taken for one."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from loralint.source.document import Comment
from loralint.source.limits import NODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loralint.source.document import Document

_COMMENT = re.compile(r"(?:(?<=[\s\ufeff])|^)#[^\r\n]*")
# Programs are not parsed for their comments; only ours matter, and nobody writes one inside a text.
_PROGRAMS = frozenset({"python", "shell", "make", "powershell"})
_OWN = re.compile(r"(?:(?<=[\s;])|^)#[ \t]*loralint\b[^\r\n]*")
_BLOCK_HEADER = re.compile(r"(?:[!&]\S*[ \t]+)*[|>][^\r\n]*")


def find(doc: Document) -> list[Comment]:
    """List the comments of a document in order; none where it did not parse or the format has none."""
    places: Iterable[tuple[int, int]] = doc.comment_marks
    if doc.format == "yaml":
        places = [] if doc.problems else _between_scalars(doc)
    elif doc.format in _PROGRAMS:
        places = (match.span() for match in _OWN.finditer(doc.text))
    return [_comment(doc, start, end) for start, end in islice(places, NODES)]


def _between_scalars(doc: Document) -> Iterator[tuple[int, int]]:
    at = 0
    for node in doc.scalars:
        yield from _within(doc.text, at, node.start)
        at = node.end
        header = None if node.plain or node.start == at else _BLOCK_HEADER.match(doc.text, node.start, at)
        if header:  # the one scalar that can hold a comment, on its first line
            yield from _within(doc.text, node.start, header.end())
    yield from _within(doc.text, at, len(doc.text))


def _within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if text.find("#", start, end) >= 0:
        for match in _COMMENT.finditer(text, start, end):
            yield match.span()


def _comment(doc: Document, start: int, end: int) -> Comment:
    text = doc.text
    line, column = doc.lines.place(start)
    own_line = not text[start - column + 1 : start].strip()
    return Comment(text[start + 1 : end].strip(), line, column, start, end, own_line)
