"""Files as an editor names them, and the places in them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from pygls.uris import from_fs_path

from loralint.lsp.judging import Judged
from loralint.lsp.positions import Positions


class Places:
    """The files of one look.

    encoding: of the editor's columns; open_: real path -> the URI of its buffer, as the editor spells it, and the
    version.
    """

    def __init__(self, judged: Judged, encoding: str, open_: Mapping[str, tuple[str, int]]) -> None:
        self._judged = judged
        self._encoding = encoding
        self._open = open_
        self._positions: dict[str, Positions] = {}

    def uri(self, file: str) -> str:
        """What the editor calls a file."""
        known = self._known(file)
        return known[0] if known else from_fs_path(os.path.abspath(file)) or ""

    def version(self, file: str) -> int | None:
        """The version of the buffer that a file is open in, None for a file on the disk."""
        known = self._known(file)
        return known[1] if known else None

    def of(self, file: str) -> Positions:
        """The places of a file."""
        if file not in self._positions:
            buffer = self._judged.buffer
            own = file == buffer.path
            text, mark = (buffer.text, buffer.mark) if own else (self._judged.text(file), 0)
            self._positions[file] = Positions(text, self._encoding, mark)
        return self._positions[file]

    def _known(self, file: str) -> tuple[str, int] | None:
        buffer = self._judged.buffer
        return (buffer.uri, buffer.version) if file == buffer.path else self._open.get(os.path.realpath(file))


class Sight(NamedTuple):
    """A file as one look sees it: the buffer that was looked at, or another file of its runs, under the look's name."""

    judged: Judged
    places: Places
    file: str
