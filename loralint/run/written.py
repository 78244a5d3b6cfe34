"""Files that a script writes before a launch reads them: heredocs, and cells of a notebook with `%%writefile`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from loralint.source.command import Files
from loralint.source.document import Document
from loralint.source.inner import Piece, read_pieces


def written(document: Document, files: Files) -> Document:
    """A file as the script writes it; its places are the script's."""
    moves = files.moves or ((0, files.start),)
    ends = [at for at, _ in moves[1:]] + [len(files.text)]
    pieces = [Piece(at, start, end - at) for (at, start), end in zip(moves, ends, strict=True)]
    return read_pieces(document, files.text, pieces, posixpath.basename(files.name))


def find_written(name: str, files: Iterable[Files], document: Document) -> Document | None:
    """The last of these files that a launch means by `name`."""
    path = posixpath.normpath(name)
    found = [one for one in files if posixpath.normpath(one.name) == path]
    return written(document, found[-1]) if found else None
