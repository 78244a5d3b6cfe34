"""A fix as the lines that go and come, with a line around them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from itertools import groupby

from loralint.model import Edit, Fix, Report
from loralint.render.json_v1 import shareable
from loralint.source.secrets import redact
from loralint.source.shown import path

_AROUND = 3  # lines that are looked at together, since a secret may stand below its name
_MOST = 40  # lines of one fix
_BREAK = re.compile(r"\r\n?|\n")


def patch(fix: Fix | None, report: Report) -> list[tuple[str, str]]:
    """(kind, line): file, add, del or same; nothing where the text is not at hand or a secret would be copied."""
    edits = sorted(shareable(fix), key=lambda one: (one.file, one.start))
    lines = [
        line
        for file, some in groupby(edits, key=lambda one: one.file)
        if file in report.texts
        for line in _of_file(file, report.texts[file], list(some))
    ]
    while lines and not lines[-1][1].strip():  # the end of the file
        lines.pop()
    return lines if len(lines) <= _MOST else [*lines[:_MOST], ("same", f"… {len(lines) - _MOST} more lines")]


def _of_file(file: str, text: str, edits: list[Edit]) -> Iterator[tuple[str, str]]:
    start, end = _whole_lines(text, edits[0].start, max(one.end for one in edits))
    before, after = text[start:end], _edited(text[start:end], edits, start)
    yield "file", path(file)
    hunks = difflib.unified_diff(_BREAK.split(redact(before)), _BREAK.split(redact(after)), n=1, lineterm="")
    for line in list(hunks)[2:]:
        if not line.startswith("@@"):
            yield {"+": "add", "-": "del"}.get(line[0], "same"), line


def _edited(text: str, edits: list[Edit], offset: int) -> str:
    for one in reversed(edits):
        text = text[: one.start - offset] + one.text + text[one.end - offset :]
    return text


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The offsets of the lines around a stretch, some more at both ends."""
    for _ in range(_AROUND):
        start = max(0, text.rfind("\n", 0, max(0, start - 1)) + 1) if start else 0
    for _ in range(_AROUND):
        following = text.find("\n", end)
        end = len(text) if following < 0 else following + 1
    return start, end
