"""Places in another file than the one that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.document import Mark

if TYPE_CHECKING:
    from loralint.source.lines import Lines


class FileMark(Mark):
    """A place in another file, which it names."""

    __slots__ = ("file",)

    def __init__(self, index: int, lines: Lines, file: str) -> None:
        super().__init__(index, lines)
        self.file = file

    @property
    def text(self) -> str:
        """The other file's text."""
        return self._lines.text
