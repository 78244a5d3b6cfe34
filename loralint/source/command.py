"""Command lines as a shell would see them, told without running anything."""

from __future__ import annotations

from typing import NamedTuple

from loralint.model import Unknown
from loralint.source.document import Node


class Word(NamedTuple):
    """One argument after quotes, joins and variables. node: a scalar whose span is where it stands as written (of a
    variable: where the value is given, when that is known). text: what the program gets, Unknown when a part of it is
    filled in only when the line runs. quoted: some of it stood in quotes.
    """

    text: str | Unknown
    node: Node
    quoted: bool = False


class Assignment(NamedTuple):
    """`NAME=value`, as prefix of a command or exported before it."""

    name: str
    word: Word


class Command(NamedTuple):
    """One simple command, in the order of the file. words: program first. env: variables that it gets from the file
    (exported ones and its own prefix; of one name the last counts). folder: where `cd` led, "" for the start, None when
    unknown. documents: heredocs that it reads, as (text, offset). sure: it runs whatever happens (no branch). start,
    end: offsets of the whole command.
    """

    words: tuple[Word, ...]
    env: tuple[Assignment, ...]
    folder: str | None
    documents: tuple[tuple[str, int], ...]
    sure: bool
    start: int
    end: int


class Files(NamedTuple):
    """Files that a shell script writes itself: `cat > config.yaml <<EOF`. name as written, text, offset of the text."""

    name: str
    text: str
    start: int


class Shell(NamedTuple):
    """A shell script as read. faults: (kind, message, start, end) of what a shell would take otherwise than it looks:
    "continuation" (a line that lost its backslash, a backslash before blanks, a comment inside), "unterminated".
    """

    commands: tuple[Command, ...]
    files: tuple[Files, ...] = ()
    faults: tuple[tuple[str, str, int, int], ...] = ()
