"""Which reader a file gets: decided by what it holds, since `.json` names both an array and lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from loralint.data.array import read_array
from loralint.data.lines import read_lines
from loralint.data.row import Row, Source, parse
from loralint.data.table import read_table
from loralint.source.discover import OUTSIDE, within
from loralint.source.read import NotRegularError, open_regular

_HEAD = 1 << 16
_PACKED = (
    (b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "Zstandard"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"),
    (b"PK\x03\x04", "zip"),
)  # fmt: skip
_WIDE = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def read(path: str, progress: Callable[[int], None], every: int = 1) -> tuple[Source, Iterator[Row]]:
    """A file's state and its rows, read as they are asked for. Nothing is raised: a fault is a row or in the state.

    every: of so many rows at most one is looked at, a power of two.
    """
    source = Source(path, path, progress, every)
    return source, _rows(source)


def _rows(source: Source) -> Iterator[Row]:
    if _leads_out(source.path):
        source.refuse(f"it is {OUTSIDE}; give the path that it leads to")
        return
    try:
        with open_regular(source.path) as file:
            head = file.read(_HEAD)
            file.seek(0)
            packed = next((name for magic, name in _PACKED if head.startswith(magic)), "")
            wide = next((name for magic, name in _WIDE if head.startswith(magic)), "")
            if packed:
                source.unread = f"it is compressed ({packed}), and nothing is unpacked; give the unpacked file"
            elif wide:
                yield Row(1, 1, None, f"the file is {wide}, not UTF-8")
            elif head.startswith(b"PAR1"):
                yield from read_table(file, source, os.fstat(file.fileno()).st_size)
            elif source.path.lower().endswith(".parquet"):
                yield Row(1, 1, None, "it is no Parquet file")
            elif _in_lines(head, source.path):
                yield from read_lines(file, source)
            else:
                yield from read_array(file, source)
    except NotRegularError as error:
        source.refuse(f"it is {error}, not a regular file")
    except OSError as error:
        source.refuse(f"it cannot be read: {os.strerror(error.errno or 0).lower()}")


def _leads_out(path: str) -> bool:
    """Whether a path that is given as lying in the working folder leads out of it by a link."""
    here = os.path.abspath(os.curdir)
    return os.path.abspath(path).startswith(here.rstrip(os.sep) + os.sep) and not within(path, here)


def _in_lines(head: bytes, path: str) -> bool:
    """Whether it holds a row a line: not where it starts with an array, or with an object that goes over lines."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return False
    first, _, rest = text.partition("\n")
    over_lines = bool(rest) and bool(parse(first.strip())[2])
    return not (path.lower().endswith(".json") and text.startswith("{") and over_lines)
