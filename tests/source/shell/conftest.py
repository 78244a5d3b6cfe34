"""A shell script as read, shown as plain lists."""

from __future__ import annotations

import pytest

from loralint.model import Unknown
from loralint.source.document import Document
from loralint.source.shell import read_shell


def document(text: str, kind: str = "shell") -> Document:
    return Document("run.sh", kind, text)


@pytest.fixture
def read():
    """Text -> (document, shell)."""

    def reading(text: str, kind: str = "shell"):
        made = document(text, kind)
        return made, read_shell(made)

    return reading


@pytest.fixture
def words(read):
    """Text -> the words of each command, None for what is known only when it runs."""

    def reading(text: str, kind: str = "shell"):
        made, shell = read(text, kind)
        assert made.problems == []
        return [
            [None if isinstance(one.text, Unknown) else one.text for one in command.words] for command in shell.commands
        ]

    return reading


@pytest.fixture
def placed(read):
    """Text -> for each word of the first command what it is and what stands at its place."""

    def reading(text: str, kind: str = "shell"):
        made, shell = read(text, kind)
        return [(one.raw, made.text[one.node.start : one.node.end]) for one in shell.commands[0].words]

    return reading
