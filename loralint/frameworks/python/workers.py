"""Batches that are to be fetched ahead by workers that a program's arguments do not ask for."""

from __future__ import annotations

from loralint.frameworks.python.keywords import every_keyword
from loralint.frameworks.readers.training_arguments import ahead, fetched_ahead
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import plain


def observe_workers(document: Document, _: Look) -> list[Observation]:
    """Observe them in the call of any class of arguments whose keywords are all seen."""
    found: list[Observation] = []
    for outer in document.root.pairs if document.root is not None else ():
        early = fetched_ahead(outer.value, _number) if outer.value.kind == "mapping" else None
        if early is not None and "**" not in document.text and early.key in (every_keyword(outer.key) or ()):
            found.append(ahead(document, early, f"{outer.key}.{early.key}"))
    return found


def _number(node: Node) -> object:
    return plain(node, "python")
