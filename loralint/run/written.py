"""Files that a script writes before a launch reads them: heredocs, cells with `%%writefile`, what Python writes."""

from __future__ import annotations

import copy
import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

from loralint.source.command import Files
from loralint.source.document import Document
from loralint.source.inner import Piece, read_pieces

if TYPE_CHECKING:
    from loralint.run.project import Lookup


def written(document: Document, files: Files) -> Document:
    """A file as the script writes it; its places are the script's."""
    if files.tree is not None:
        return _of_tree(document, files)
    moves = files.moves or ((0, files.start),)
    ends = [at for at, _ in moves[1:]] + [len(files.text)]
    pieces = [Piece(at, start, end - at) for (at, start), end in zip(moves, ends, strict=True)]
    return read_pieces(document, files.text, pieces, posixpath.basename(files.name))


def _of_tree(document: Document, files: Files) -> Document:
    """A file whose text a program makes of a dictionary."""
    form = "json" if files.name.endswith(".json") else "yaml"
    made = Document(document.file, form, document.text)
    made.lines = document.lines
    made.sealed = "the program makes the text of the file"
    made.roots = [files.tree] if files.tree is not None else []
    made.keep_comments(())
    return made


class Written:
    """The files as a command of a script finds them: those that the script has written by then, else the project's.

    folder: where the script has gone by then, None when nobody knows. before: the offset of the command. Looked for
    from that folder, and then from the folder of the file that names one.
    """

    def __init__(self, script: Document, files: Iterable[Files], project: Lookup, folder: str | None = "") -> None:
        self._script = script
        self._files = tuple(files)
        self._project = project
        self._read: dict[int, Document] = {}  # parts of one run that name one file share it
        self._folder = folder or ""
        self._before = len(script.text)

    def at(self, folder: str | None, before: int) -> Written:
        """The same for another command."""
        made = copy.copy(self)
        made._folder, made._before = folder or "", before  # noqa: SLF001 - a copy of our own
        return made

    def find(self, name: str, near: str) -> Document | None:
        """The file that the run means by `name`."""
        path = name if name.startswith("/") else posixpath.join(self._folder, name)
        own = self._written({posixpath.normpath(name), posixpath.normpath(path)})
        return own or self._project.find(path, self._script.file) or self._project.find(name, near)

    def module(self, name: str, level: int, near: str) -> Document | None:
        """The file that an import means."""
        return self._project.module(name, level, near)

    def beside(self, path: str, near: str) -> Document | None:
        """The file of a path as seen from the folder of another one."""
        return self._project.beside(path, near)

    def document(self, path: str, shown: str) -> Document:
        """A file that the caller names."""
        return self._project.document(path, shown)

    def _written(self, names: set[str]) -> Document | None:
        found = [one for one in self._files if posixpath.normpath(one.name) in names]
        found = [one for one in found if one.start < self._before] or found
        if not found:
            return None
        made = self._read.get(found[-1].start)
        if made is None:
            made = self._read[found[-1].start] = written(self._script, found[-1])
        return made
