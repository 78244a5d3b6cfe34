"""JSON Lines: one row a line, in memory one line at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO
from zlib import crc32

from loralint.data.given import ROW_BYTES, ROWS
from loralint.data.row import SCAN, Row, Source, parse, sampling

_BLOCK = 1 << 20
_FIRST = 1_000  # lines that are looked at in any case, so that there is no file of which nothing is
_TOLD = 1 << 18  # bytes between two words of progress


def read_lines(file: BinaryIO, source: Source) -> Iterator[Row]:
    """The rows of a file that is open at its start; blank lines are none. A broken line does not end the reading."""
    first = _FIRST if source.every == 1 else 0
    every = source.every = max(source.every, _sampling(file))
    number, told = 0, 0
    while data := file.readline(ROW_BYTES + 1):
        number += 1
        told += len(data)
        if told > _TOLD:
            source.progress(told)
            told = 0
        if len(data) > ROW_BYTES and not data.endswith(b"\n"):
            told += _pass_over(file)
            source.total += 1
            source.too_long += 1
            continue
        data = data.strip()
        if not data or (every > 1 and number > first and _left_out(data, source)):
            continue
        value, end = _plainly(data)
        if end:
            source.total += 1
            yield Row(number, number, value)
        else:
            yield from _rows(data, number, source)
    source.progress(told)


def sampled(data: bytes, every: int) -> bool:
    """Whether a row is in the sample of one in so many: told by its content, so that copies are in or out together."""
    return crc32(data) % every == 0


def _left_out(data: bytes, source: Source) -> bool:
    if sampled(data, source.every):
        return False
    source.total += 1
    return True


def _plainly(data: bytes) -> tuple[object, int]:
    """The value of a line that holds one and nothing else, as nearly all do; (None, 0) for the others."""
    try:
        text = data.decode()
        value, end = SCAN(text)
    except (ValueError, RecursionError):
        return None, 0
    return (value, end) if end == len(text) else (None, 0)


def _rows(data: bytes, number: int, source: Source) -> Iterator[Row]:
    """The values of one line, for several may stand in it."""
    try:
        text = data.decode().lstrip("\ufeff") if number == 1 else data.decode()
    except UnicodeDecodeError as error:
        source.total += 1
        yield Row(number, number, None, f"the byte 0x{data[error.start]:02x} is not valid UTF-8")
        return
    at = 0
    while at < len(text):
        source.total += 1
        value, end, fault = parse(text, at)
        if fault:
            yield Row(number, number, None, f"{fault} (column {end + 1})")
            return
        yield Row(number, number, value)
        at = end
        while at < len(text) and text[at] in " \t\r":
            at += 1


def _sampling(file: BinaryIO) -> int:
    """How many rows make one that is looked at; a file with fewer bytes than rows in a sample need not be counted."""
    if os.fstat(file.fileno()).st_size <= ROWS:
        return 1
    lines = 0
    while block := file.read(_BLOCK):
        lines += block.count(b"\n")
    file.seek(0)
    return sampling(lines, ROWS)


def _pass_over(file: BinaryIO) -> int:
    """Read to the end of a line; the bytes of it."""
    passed = 0
    while data := file.readline(_BLOCK):
        passed += len(data)
        if data.endswith(b"\n"):
            break
    return passed
