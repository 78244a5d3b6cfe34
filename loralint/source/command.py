"""Command lines as a shell would see them, told without running anything."""

from __future__ import annotations

from typing import NamedTuple

from loralint.model import Unknown
from loralint.source.document import Node


class Part(NamedTuple):
    """A stretch of a word. text: what it gives; where `why` says that this is known only when the line runs, what is
    written, as `${NAME}`. start, end: where the text stands; as long as the text where each character stands there.
    """

    text: str
    start: int
    end: int
    why: str = ""


class Word(NamedTuple):
    """One argument after quotes, joins and variables. node: a scalar whose span is where it stands as written (of a
    variable: where the value is given, when that is known); its `raw` keeps unknown parts as `${NAME}`. text: what the
    program gets, Unknown when a part of it is filled in only when the line runs. quoted: some of it stood in quotes.
    parts: what it is made of. start, end: where the command has it.
    """

    text: str | Unknown
    node: Node
    quoted: bool = False
    parts: tuple[Part, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def raw(self) -> str:
        """The text, with `${NAME}` for what is filled in later."""
        return self.node.raw


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
    """Files that a script writes itself: `cat > config.yaml <<EOF`. name as written, text, offset of the text.

    moves: where variables were filled in, (offset in `text`, offset in the file) from which on both run alike again;
    empty when the text stands in the file as it is. tree: what the file says where a program makes its text, as
    `json.dump` does of a dictionary; then the text is empty.
    """

    name: str
    text: str
    start: int
    moves: tuple[tuple[int, int], ...] = ()
    tree: Node | None = None


class Shell(NamedTuple):
    """A shell script as read. faults: (kind, message, start, end) of what a shell would take otherwise than it looks:
    "continuation" (a line that lost its backslash, a backslash before blanks, a comment inside), "unterminated",
    "empty-value" (`--flag= value`), "typographic" (dashes and quotes of a word processor), "assignment"
    (`NAME = value`), "held" (a backslash that a variable's text kept).
    """

    commands: tuple[Command, ...]
    files: tuple[Files, ...] = ()
    faults: tuple[tuple[str, str, int, int], ...] = ()
