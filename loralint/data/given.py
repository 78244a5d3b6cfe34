"""What the caller hands over: the files, and who wants to hear of the progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
# Of a JSONL or Parquet file with more rows a sample of half as many to as many is looked at, chosen by content.
# Those of a JSON array cannot be counted beforehand: after so many one of two is looked at, then one of four ...
ROWS = 1_000_000
# A longer row is not looked at: parsed, it may take thirty times its size.
ROW_BYTES = 4 * 1024 * 1024
# what a tokenizer.json begins with: the sections in the order of the library, or of the alphabet
_SECTIONS = (b"version", b"truncation", b"added_tokens")
_HEAD = 4096


def unheard(done: int) -> None:
    """Take the progress, in bytes, of a caller who does not want to hear of it."""


class Given(NamedTuple):
    """The files of one run: those it trains on, those it evaluates on, and its tokenizer.json if there is one.

    progress is called with bytes read since its last call; `size` says how many there will be.
    """

    train: tuple[str, ...]
    evaluation: tuple[str, ...] = ()
    tokenizer: str = ""
    progress: Callable[[int], None] = unheard

    @property
    def size(self) -> int:
        """Bytes of all files of rows."""
        return sum(os.path.getsize(path) for path in (*self.train, *self.evaluation) if os.path.isfile(path))


def given(train: Iterable[str], evaluation: Iterable[str] = (), tokenizer: str = "") -> Given:
    """Check the names, for a mistake in them is the caller's. Raises ValueError that says what to give instead."""
    files = Given(tuple(train), tuple(evaluation), tokenizer)
    for path in (*files.train, *files.evaluation):
        if not os.path.lexists(path):
            raise ValueError(f"{path}: no such file")
        if not path.lower().endswith(SUFFIXES):
            raise ValueError(f"{path}: rows are read from {', '.join(SUFFIXES)}; unpack or convert other files")
    if tokenizer and not os.path.isfile(tokenizer):
        raise ValueError(f"{tokenizer}: no such file; give the path of a tokenizer.json")
    if tokenizer and not _begins_like_a_tokenizer(tokenizer):
        raise ValueError(f"{tokenizer}: no tokenizer.json as the library tokenizers writes it")
    return files


def _begins_like_a_tokenizer(path: str) -> bool:
    """Whether one of the sections is named near the beginning; a file that cannot be opened is told later."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return True
    return head.lstrip().startswith(b"{") and any(b'"%s"' % name in head for name in _SECTIONS)
