"""A bash text to its syntax tree, within budgets: tree-sitter is linear on real scripts, but not on hostile ones."""

from __future__ import annotations

import re
import time
from itertools import accumulate
from typing import TYPE_CHECKING

import tree_sitter_bash
from tree_sitter import Language, Parser

from loralint.source.document import Fault

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

# The longest launch script known to us has 20 KiB.
LENGTH = 64 * 1024
# Levels of the syntax tree. Every level of statements costs up to three calls of ours.
LEVELS = 120
# Of these the parser's time and memory grow with the square. Real scripts have a few dozen.
_MOST = {"<<": 500, "|": 2000, "=(": 1000, "`": 400}
# Seconds for one text; a real script takes 0.002. Only what nobody writes comes near it.
_SECONDS = 1.0
# The scanner needs minutes for a text of NULs; bash drops them, and the other characters here end no word either.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


class Tree:
    """A parsed text. Offsets of the tree are bytes of UTF-8; `at` makes offsets of the document of them."""

    __slots__ = ("_offsets", "_text", "root", "start")

    def __init__(self, text: str, start: int) -> None:
        bound(text)
        data = _CONTROLS.sub(" ", text).encode("utf-8", "replace")
        self.start = start
        self._text = text
        self._offsets = None if len(data) == len(text) else [*accumulate((byte & 0xC0) != 0x80 for byte in data)]
        self.root = _parse(data)
        _levels(self.root)

    def at(self, byte: int) -> int:
        """The offset in the document of a byte of the tree."""
        if self._offsets is None:
            return self.start + byte
        return self.start + (self._offsets[byte] - 1 if byte < len(self._offsets) else len(self._text))

    def text(self, start: int, end: int) -> str:
        """What stands between two offsets of the document."""
        return self._text[start - self.start : end - self.start]

    def of(self, syntax: Syntax) -> str:
        """What stands at a place of the tree."""
        return self.text(self.at(syntax.start_byte), self.at(syntax.end_byte))


def bound(text: str) -> None:
    """Raise Fault for a text that is too large to be taken apart."""
    if len(text) > LENGTH:
        raise Fault("too-large", f"more than {LENGTH // 1024} KiB of shell: not a launch script", 0)
    for mark, most in _MOST.items():
        if text.count(mark) > most:
            raise Fault("too-large", f"more than {most} times `{mark}`: not a launch script", 0)


def _parse(data: bytes) -> Syntax:
    deadline = time.monotonic() + _SECONDS
    parser = Parser(Language(tree_sitter_bash.language()))
    try:
        return parser.parse(
            lambda offset, _point: data[offset : offset + 65536],
            progress_callback=lambda _offset, _error: time.monotonic() > deadline,
        ).root_node
    except ValueError:
        raise Fault("too-deep", "the shell text takes too long to take apart: not a launch script", 0) from None


def _levels(root: Syntax) -> None:
    """Refuse a tree that is too deep to recurse into, without recursion."""
    cursor = root.walk()
    while True:
        if cursor.depth > LEVELS:
            raise Fault("too-deep", f"nested more than {LEVELS} levels deep", 0)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
