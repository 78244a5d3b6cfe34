"""What is said of a file that starts no run because nobody could look into it."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Note, Run
from loralint.source.document import Document

# What a trainer might well read, and we did not. A text that is no YAML is none of a trainer's either.
_UNREAD = frozenset({"unreadable", "too-large", "too-deep", "too-many-nodes", "too-many-aliases"})


def unread(document: Document) -> Run | None:
    """A file that nobody could look into is said to be unchecked, whatever it may hold."""
    notes = tuple(_notes(document))
    return Run((document.file,), None, 100, "pass", (), notes) if notes else None


def _notes(document: Document) -> Iterator[Note]:
    if document.format in ("yaml", "json") and "apiVersion" in document.text:
        from loralint.frameworks.readers.kubernetes.templates import template

        said = template(document)
        if said:
            yield Note("not-checked", said)
    for problem in document.problems:
        if problem.kind in _UNREAD:
            yield Note("not-checked", problem.message)
