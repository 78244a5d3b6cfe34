"""What a launched program starts, read once for the launches that find the same files around it.

Many scripts of a repository launch one program, which may have dozens of modules.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from loralint.run.build import Start
from loralint.run.scripts import Imported, Opened, script_starts
from loralint.source.document import Document
from loralint.source.overrides import Line

# Readings of one program that are kept, as it may be launched from several folders.
_MOST = 8


class _Read(NamedTuple):
    """One reading. opened, imported: what it asked for and what it got; closed: no file could be opened by a name."""

    starts: list[Start]
    opened: dict[tuple[str], Document | None]
    imported: dict[tuple[str, int, str], Document | None]
    closed: bool

    def holds(self, opened: Opened | None, imported: Imported) -> bool:
        """Whether another launch would read the same."""
        if self.closed != (opened is None):
            return False
        names = all(opened is not None and opened(*asked) is got for asked, got in self.opened.items())
        return names and all(imported(*asked) is got for asked, got in self.imported.items())


def launched_starts(document: Document, opened: Opened | None, imported: Imported, line: Line) -> list[Start]:
    """As `script_starts` of a program that a command starts."""
    known = _known(document)
    for one in known:
        if one.holds(opened, imported):
            return one.starts
    asked: list[str] = []

    def files(path: str, near: str) -> Document | None:
        asked.append(path)
        return line.files(path, near)

    read = _Read([], {}, {}, opened is None)
    find = _noting_names(opened, read.opened) if opened is not None else None
    look, words = _noting_imports(imported, read.imported), line._replace(files=files)
    read.starts.extend(script_starts(document, find, imported=look, launched=True, line=words))
    if not asked and len(known) < _MOST:  # with a config of Hydra, the words of the launch count too
        known.append(read)
    return read.starts


def _noting_names(look: Opened, noted: dict[tuple[str], Document | None]) -> Opened:
    def find(name: str) -> Document | None:
        noted[name,] = found = look(name)
        return found

    return find


def _noting_imports(look: Imported, noted: dict[tuple[str, int, str], Document | None]) -> Imported:
    def find(name: str, level: int, near: str) -> Document | None:
        noted[name, level, near] = found = look(name, level, near)
        return found

    return find


@lru_cache(maxsize=16)
def _known(_document: Document) -> list[_Read]:
    return []
