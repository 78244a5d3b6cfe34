"""The text of a user's own rows, for a probe on a model that reads any text; no torch here."""

from __future__ import annotations

import math
import os
from codecs import getincrementaldecoder
from contextlib import suppress
from time import monotonic

from loralint.data.example import example
from loralint.data.given import SUFFIXES
from loralint.data.read import read
from loralint.data.row import Row
from loralint.data.shape import shape_of
from loralint.source.read import NotRegularError, open_regular

_PLAIN = (".txt", ".md")
_ENOUGH = 400_000  # characters; a probe reads some ten thousand tokens
_LEAST = 400
_MOST_BROKEN = 100  # one letter in so many may be broken
# Lines are counted before the first is read: some 27 s for so many bytes, and Ctrl-C alone would end more.
_MOST_BYTES = 1 << 33
_SECONDS = 20.0  # for rows of which none has a text
_NO_DISK = ("/proc/", "/sys/")  # what the kernel makes up looks like a file, and some of it never ends
_NO_LAYOUT = "no layout that is known; rows hold messages, prompt and completion, instruction and output, or text"
_SEPARATOR = "\x1e"  # between the texts of an example


def text_of(path: str) -> str:
    """What a run would learn from a file of rows (JSONL, JSON, Parquet) or of text: prompts and answers in their order.

    Turns of a conversation stand one under the other, without the marks of a chat template. Raises ValueError, saying
    what to give instead, for a file that cannot be read, or holds next to no text.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in (*SUFFIXES, *_PLAIN):
        raise ValueError(f"{path}: rows are read from {', '.join((*SUFFIXES, *_PLAIN))}; unpack or convert other files")
    _refuse_endless(path, suffix)
    text, why = (_plain(path), "") if suffix in _PLAIN else _rows(path)
    text = text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair is no text for a tokenizer
    if len(text) < _LEAST:
        raise ValueError(f"{path}: {len(text)} characters of text are too few to train on{why}")
    return text


class _LateError(Exception):
    """The time for reading is over."""


def _refuse_endless(path: str, suffix: str) -> None:
    if os.path.realpath(path).startswith(_NO_DISK):
        raise ValueError(f"{path}: it leads to what lies on no disk")
    if suffix not in _PLAIN and os.path.isfile(path) and (size := os.path.getsize(path)) > _MOST_BYTES:
        raise ValueError(
            f"{path}: it has {size / 2**30:.0f} GiB, and a probe reads {_ENOUGH:,} characters: give a part of it"
        )


def _plain(path: str) -> str:
    try:
        with open_regular(path) as file:
            return _decoded(file.read(_ENOUGH), path)
    except NotRegularError as error:
        raise ValueError(f"{path}: it is {error}, not a regular file") from None
    except OSError as error:
        raise ValueError(f"{path}: it cannot be read: {os.strerror(error.errno or 0).lower()}") from None


def _decoded(data: bytes, path: str) -> str:
    """The text of the start of a file. Raises ValueError where it is none, which would be trained on as it is."""
    read = getincrementaldecoder("utf-8-sig")("replace")
    text = read.decode(data)  # what is cut in the middle of a letter waits for the rest of it
    if "\0" in text or text.count("\ufffd") * _MOST_BROKEN > len(text):
        raise ValueError(f"{path}: it is no text in UTF-8; save it as such")
    return text


def _rows(path: str) -> tuple[str, str]:
    """The text, and why the first row that gave none did so, as the end of a sentence."""
    until = math.inf

    def look_at_clock(_: int) -> None:
        nonlocal until
        until = min(until, monotonic() + _SECONDS)  # from the first rows on, not from when lines were counted
        if monotonic() > until:
            raise _LateError

    source, rows = read(path, look_at_clock)
    found: list[str] = []
    length, why = 0, ""
    with suppress(_LateError):
        for row in rows:
            text = _said(row)
            why = why or ("" if text else f"; {source.unit} {row.number}: {row.fault or _NO_LAYOUT}")
            found.append(text)
            length += len(text)
            if length > _ENOUGH:
                break
    if source.unread and not found:
        raise ValueError(f"{path}: {source.unread}")
    return "\n\n".join(filter(None, found)), why


def _said(row: Row) -> str:
    """The text of one row; "" for one that is broken, or of no known layout."""
    value = row.value
    shape = shape_of(tuple(value)) if isinstance(value, dict) else None
    if shape is None:
        return ""
    assert isinstance(value, dict)
    found = example(value, shape)
    pieces = found.whole.split(_SEPARATOR)
    return "\n".join(piece for piece in (pieces[1::2] if found.kind == "chat" else pieces) if piece)
