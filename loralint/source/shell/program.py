"""A bash text to its commands, files and faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Shell
from loralint.source.shell.faults import faults
from loralint.source.shell.grammar import Tree
from loralint.source.shell.reading import Reading
from loralint.source.shell.scope import Scope

if TYPE_CHECKING:
    from loralint.source.document import Document


def read(document: Document, text: str, start: int, scope: Scope | None = None) -> Shell:
    """Read a bash text that stands at an offset of the document. Raises Fault for one beyond the budgets."""
    reading = Reading(document)
    tree = Tree(text, start)
    reading.run(tree, tree.root, scope or Scope())
    found = (*reading.faults, *faults(tree, reading.commands))
    return Shell(tuple(reading.commands), tuple(reading.files), found)
