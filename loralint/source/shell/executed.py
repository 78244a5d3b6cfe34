"""A command that somebody else runs word by word, as the kubelet does: no shell takes its words apart.

Where the program is a shell itself, or only passes another one on, what that one would run is followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Assignment, Command, Shell
from loralint.source.shell.commands import SHELLS, WRAPPERS
from loralint.source.shell.words import as_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loralint.source.document import Document
    from loralint.source.shell.words import Field


def read_executed(
    document: Document, words: Sequence[Field], variables: Mapping[str, Field], folder: str = ""
) -> Shell:
    """The commands that come of it. variables: the environment; folder: where it starts, "" when nobody says.

    Raises Fault for a text beyond the budgets of a shell script.
    """
    if not words:
        return Shell(())
    start, end = min(one.start for one in words), max(one.end for one in words)
    if not any(_base(one) in SHELLS or _base(one) in WRAPPERS for one in words):
        env = tuple(Assignment(name, as_word(one, document.lines)) for name, one in variables.items())
        given = tuple(as_word(one, document.lines) for one in words)
        return Shell((Command(given, env, folder, (), True, start, end),))
    from loralint.source.shell.commands import perform
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope

    reading, scope = Reading(document), Scope()
    scope.rooted, scope.folder = True, folder
    scope.names = {name: (one,) for name, one in variables.items()}
    scope.exported = dict.fromkeys(variables)
    perform(reading, list(words), scope, {}, (start, end))
    return Shell(tuple(reading.commands), tuple(reading.files))


def _base(field: Field) -> str:
    return field.text[:200].rpartition("/")[2]
