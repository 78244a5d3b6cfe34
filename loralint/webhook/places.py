"""Where a finding stands for whoever wrote the object: the key of a map with the line in it, else the object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from loralint.model import Span
from loralint.source.document import Document, Node


class Place(NamedTuple):
    """file: `ConfigMap/NAME/KEY` of a looked-up map, KEY of the reviewed one, empty for the object itself.

    line: 0 where there is none to speak of.
    """

    file: str
    line: int


def place_of(span: Span, document: Document) -> Place:
    """The place of a span. document: the reviewed object, as one line of JSON."""
    if span.file != document.file:
        return Place(span.file, span.line)
    for key, node in _texts(document):
        if node.start <= span.start < node.end:
            return Place(key, 1 + _written(document.text[node.start + 1 : max(span.start, node.start + 1)]).count("\n"))
    return Place("", 0)


def _texts(document: Document) -> Iterator[tuple[str, Node]]:
    root = document.root
    data = root.get("data") if root is not None and root.kind == "mapping" else None
    yield from ((pair.key, pair.value) for pair in (data.pairs if data is not None else ()))


def _written(escaped: str) -> str:
    """What the start of a JSON string says; it may end within an escape."""
    for cut in range(13):  # a pair of surrogates is 12 characters long
        try:
            return str(json.loads(f'"{escaped[: len(escaped) - cut]}"', strict=False))
        except ValueError:
            continue
    return ""
