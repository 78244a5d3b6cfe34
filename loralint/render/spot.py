"""Where a finding stands as other programs say it: a path from the repository's root, lines of the file itself."""

from __future__ import annotations

import os
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from loralint.model import Finding, Report, Span
from loralint.source.secrets import redact

_NO_FILES = frozenset({"<stdin>", "<config>", "--launch"})
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class Region(NamedTuple):
    """Lines and columns of the file, from 1, ends exclusive; columns count code points."""

    line: int
    column: int
    end_line: int
    end_column: int


def is_file(name: str) -> bool:
    """Whether a name that a report gives is that of a file, not of standard input or a launch line."""
    return name not in _NO_FILES


class _Name(NamedTuple):
    inside: bool
    path: str
    uri: str


def inside(name: str, root: str) -> bool:
    """Whether a file lies below the root. Without a root, what was named by a relative path does."""
    return _name(name, root, os.getcwd()).inside


def named(name: str, root: str) -> str:
    """A file with forward slashes, from the root where it lies below it; other names as they were given."""
    return _name(name, root, os.getcwd()).path


def uri(name: str, root: str) -> str:
    """A relative reference where the file lies below the root, else an absolute URI; every odd byte is escaped."""
    return _name(name, root, os.getcwd()).uri


@lru_cache(maxsize=256)  # each file is named for its findings, their fixes and their notes
def _name(name: str, root: str, folder: str) -> _Name:
    if not is_file(name):
        return _Name(False, redact(name), _escaped(redact(name)))
    whole = os.path.normpath(os.path.join(folder, name))
    top = root or folder
    below = whole.startswith(os.path.join(top, "")) and (root != "" or not os.path.isabs(name))
    path = redact((whole[len(os.path.join(top, "")) :] if below else name).replace(os.sep, "/"))
    if below:
        return _Name(True, path, _escaped(path))
    whole = redact(whole.replace(os.sep, "/"))
    return _Name(False, path, f"file://{'' if whole.startswith('/') else '/'}{_escaped(whole)}")


def _escaped(text: str) -> str:
    try:
        raw = text.encode("utf-8", "surrogateescape")  # names of files may hold bytes that are no UTF-8
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "replace")
    return "".join(chr(byte) if chr(byte) in _PLAIN else f"%{byte:02X}" for byte in raw)


def region(span: Span, report: Report) -> Region | None:
    """The place in the file. Of a notebook it is found by the offset; None where that text is not at hand."""
    if span.cell is None:
        return Region(span.line, span.column, span.end_line, span.end_column)
    text = report.texts.get(span.file, "")
    return region_of(text, span.start, span.end) if 0 <= span.start <= span.end <= len(text) and text else None


def region_of(text: str, start: int, end: int) -> Region:
    """Lines and columns of two offsets."""
    return Region(*_place(text, start), *_place(text, end))


def _place(text: str, offset: int) -> tuple[int, int]:
    """A line ends with CR LF, CR or LF, as spans count."""
    line = 1 + text.count("\n", 0, offset) + text.count("\r", 0, offset) - text.count("\r\n", 0, offset)
    begin = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return line, offset - begin + 1


def fingerprint(finding: Finding, report: Report, seen: Counter[str]) -> str:
    """What stays the same when lines move: rule, file and structural path, as in a baseline, and which one of a kind.

    seen: those of the findings before, in the order in which they are told; this one is added.
    """
    key = f"{finding.rule} {named(finding.span.file, report.root)} {redact(finding.pointer or finding.key)}"
    seen[key] += 1
    return f"{key} {seen[key]}"
