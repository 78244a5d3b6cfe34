"""One row as every reader hands it on, and the state of a file that is being read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

SCAN = json.JSONDecoder().raw_decode
DEEP = "it is nested too deep to be read"


class Row(NamedTuple):
    """number: the line, or the place in an array or table, from 1. line: where it starts, for an editor; 1 in a table.

    fault says why there is no value. `broken` ends the reading: nothing behind this place can be told apart.
    """

    number: int
    line: int
    value: object
    fault: str = ""


def sampling(amount: int, most: int) -> int:
    """The least power of two by which an amount comes down to at most so much."""
    return 1 << max(0, -(-amount // most) - 1).bit_length()


class Source:
    """A file of rows while it is read. unit: what its rows are counted in. total: rows met, also those passed over.

    every: one row of so many is looked at; a power of two, so that of two samples one holds the other. too_long: rows
    beyond the budget. unread: why the file, or the rest of it, was not looked at; refused: because it is no file to
    read, and not because something is missing here.
    """

    __slots__ = ("every", "path", "progress", "refused", "shown", "too_long", "total", "unit", "unread")

    def __init__(self, path: str, shown: str, progress: Callable[[int], None], every: int = 1) -> None:
        self.path = path
        self.shown = shown
        self.progress = progress
        self.unit = "line"
        self.total = 0
        self.every = every
        self.too_long = 0
        self.unread = ""
        self.refused = False

    def refuse(self, why: str) -> None:
        """Say why the file is not read at all."""
        self.unread = why
        self.refused = True


def parse(text: str, at: int = 0) -> tuple[object, int, str]:
    """(value, offset behind it, fault) of the JSON value that starts here; the offset of a fault is its place."""
    try:
        value, end = SCAN(text, at)
    except RecursionError:
        return None, at, DEEP
    except json.JSONDecodeError as error:
        return None, error.pos, worded(error.msg)
    except ValueError:  # an integer of more digits than Python converts
        return None, at, "it holds a number of thousands of digits"
    return value, end, ""


def worded(message: str) -> str:
    """A parser's message in our words."""
    return _WORDS.get(message) or next((said for start, said in _WORDS.items() if message.startswith(start)), message)


_WORDS = {
    "Unterminated string": "a text is never closed",
    "Invalid control character": "a text holds a raw control character such as a tab or a line break",
    "Invalid \\": "an escape in a text is not known to JSON",
    "Expecting value": "a value is missing",
    "Expecting property name": "a key in double quotes is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Illegal trailing comma": "a comma stands before a closing bracket",
}
