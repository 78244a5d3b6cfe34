"""A JSON array, or JSON values one after the other, in memory one row at a time."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from loralint.data.given import ROW_BYTES, ROWS
from loralint.data.lines import sampled
from loralint.data.row import Row, Source, parse

BLOCK = 1 << 18
# A fault, or the end of a number, nearer to the end of what was read may come from there, not from the file.
_NEAR = 24
_SPACE = " \t\r\n"
_BOUNDS = frozenset(" \t\r\n,]")


class _BrokenError(Exception):
    """The file ends or goes on in a way that JSON does not; the message says how."""


class _Window:
    """The part of the text that starts with the row under way."""

    __slots__ = ("_counted", "_decoder", "_fault", "_file", "_line", "_progress", "at", "block", "ended", "text")

    def __init__(self, file: BinaryIO, source: Source, block: int) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._fault = ""
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        self._progress = source.progress
        self._line = 1
        self._counted = 0
        self.text = ""
        self.at = 0
        self.ended = False
        self.block = block

    def more(self) -> None:
        """Drop what lies behind and read at least as much again as is at hand. Raises _BrokenError.

        A byte that is no text ends the file there, once what stands before it has been read.
        """
        if self._fault:
            self.line()
            raise _BrokenError(self._fault)
        data = self._file.read(max(self.block, len(self.text) - self.at))
        self._progress(len(data))
        self.ended = not data
        try:
            text = self._decoder.decode(data, final=self.ended)
        except UnicodeDecodeError as error:
            self._fault = f"the byte 0x{error.object[error.start]:02x} is not valid UTF-8"
            text = error.object[: error.start].decode()
            self.ended = False
        self.line()
        self.text = self.text[self.at :] + text
        self.at = self._counted = 0

    def line(self) -> int:
        """The line that the row under way starts in, from 1; each break is counted once."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def sign(self) -> str:
        """The next character that is no white space; empty at the end of the file."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _SPACE:
                    return self.text[self.at]
                self.at += 1
            if self.ended:
                return ""
            self.more()

    def value(self) -> tuple[object, str] | None:
        """The value that starts here and its text; None when it is longer than a row may be."""
        while True:
            value, end, fault = parse(self.text, self.at)
            # `0` may be the start of 0.5; after a bracket or a quote nothing can follow
            whole = self.ended or end < len(self.text) - _NEAR or self.text[end : end + 1] in _BOUNDS
            if not fault and whole:
                start, self.at = self.at, end
                return value, self.text[start:end]
            certain = end < len(self.text) - _NEAR and not fault.startswith("a text is never closed")
            if fault and (self.ended or certain):
                raise _BrokenError(fault)
            if len(self.text) - self.at > ROW_BYTES:
                return None
            self.more()


def read_array(file: BinaryIO, source: Source, block: int = BLOCK) -> Iterator[Row]:
    """The rows of a file that is open at its start. A fault is the last row: what follows cannot be told apart."""
    source.unit = "row"
    window = _Window(file, source, block)
    try:
        yield from _items(window, source, in_brackets=window.sign() == "[")
    except _BrokenError as error:
        source.total += 1
        yield Row(source.total, window.line(), None, str(error))


def _items(window: _Window, source: Source, *, in_brackets: bool) -> Iterator[Row]:
    window.at += in_brackets
    left = ROWS
    while window.sign() not in ("", "]"):
        line = window.line()
        found = window.value()
        if found is None:
            source.too_long += 1
            source.unread = "a row is longer than 4 MiB"
            return
        source.total += 1
        if source.every == 1 or sampled(found[1].encode("utf-8", "surrogatepass"), source.every):
            left -= 1
            yield Row(source.total, line, found[0])
        if not left:
            source.every, left = source.every * 2, ROWS
        if in_brackets and not _goes_on(window):
            break
    if in_brackets:
        _closed(window)


def _goes_on(window: _Window) -> bool:
    """Step over the comma behind a row, if there is one."""
    sign = window.sign()
    if sign == ",":
        window.at += 1
        if window.sign() == "]":
            raise _BrokenError("a comma stands before the closing bracket")
        return True
    if sign and sign != "]":
        raise _BrokenError("a comma is missing between two rows")
    return False


def _closed(window: _Window) -> None:
    if window.sign() != "]":
        raise _BrokenError("the file ends before its array does")
    window.at += 1
    if window.sign():
        raise _BrokenError("text follows the array")
