"""Python programs that stand in a command line themselves: `python -c "..."`, `python - <<EOF`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

from loralint.frameworks.launch.programs import PYTHON
from loralint.source.command import Command
from loralint.source.document import Document
from loralint.source.inner import Piece, read_pieces

_NAME = "command.py"


def inline_programs(document: Document, commands: Iterable[Command]) -> Iterator[Document]:
    """The programs in the commands of a document, at their places in it; none of which the shell fills a part in."""
    for command in commands:
        index = next(
            (n for n, one in enumerate(command.words[:64]) if PYTHON.fullmatch(posixpath.basename(one.raw))), -1
        )
        if index < 0:
            continue
        behind = command.words[index + 1 :]
        for before, word in pairwise(behind):
            if before.raw == "-c" and isinstance(word.text, str):
                ats = [0, *accumulate(len(part.text) for part in word.parts)]
                pieces = [Piece(at, part.start, len(part.text)) for at, part in zip(ats, word.parts, strict=False)]
                yield read_pieces(document, word.text, pieces, _NAME)
        if all(one.raw.startswith("-") and one.raw not in ("-c", "-m") for one in behind):
            for text, start in (one for one in command.documents if "$" not in one[0]):
                yield read_pieces(document, text, [Piece(0, start, len(text))], _NAME)
