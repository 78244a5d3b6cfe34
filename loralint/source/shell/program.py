"""A bash text to its commands, files and faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Shell
from loralint.source.shell.batch import batch_scope
from loralint.source.shell.bounds import bound
from loralint.source.shell.faults import carriage, faults
from loralint.source.shell.parser import parse
from loralint.source.shell.reading import Reading

if TYPE_CHECKING:
    from loralint.source.document import Document
    from loralint.source.shell.scope import Scope


def read(document: Document, text: str, start: int, scope: Scope | None = None) -> Shell:
    """Read a bash text that stands at an offset of the document. Raises Fault for one beyond the budgets."""
    bound(text)
    reading = Reading(document)
    tree, lexer = parse(text, start)
    reading.run(tree, scope or batch_scope(text, start))
    found = tuple(faults(text, start, lexer, reading.commands))
    if document.format == "shell":  # what holds commands else drops the carriage returns before bash sees them
        found = (*found, *carriage(text, start, reading.commands))
    return Shell(tuple(reading.commands), tuple(reading.files), found)
