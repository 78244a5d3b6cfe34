"""What fixes did or would do: a unified diff, and a line for each change and each refusal."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from loralint.source.clean import clean
from loralint.source.secrets import redact
from loralint.source.shown import path, shown

_WIDEST = 20_000  # characters of a line of a diff


def diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """A unified diff of all files, such as `patch -p0` takes; secrets are masked, and then it fits no more."""
    return "".join(line for file in after for line in _diff(file, redact(before[file]), redact(after[file])))


def _diff(file: str, before: str, after: str) -> Iterator[str]:
    name = path(file)
    for line in difflib.unified_diff(_lines(before), _lines(after), name, name):
        text = line.removesuffix("\n")
        end = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r")
        yield text if text.replace("\t", " ").isprintable() else clean(text, limit=_WIDEST)
        yield f"{end}\n" if line.endswith("\n") else f"{end}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """Lines as `patch` counts them: only LF ends one."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def place(file: str, line: int, cell: int | None) -> str:
    """Where something stands; a line of a notebook counts in its cell."""
    return f"{path(file)}:{line}" if cell is None else f"{path(file)} cell {cell}:{line}"


def in_a_line(before: str, after: str) -> str:
    """A change as one line: what goes, and what comes."""
    old, new = (" | ".join(line.strip() for line in redact(one).splitlines()) for one in (before, after))
    if not new:
        return f"removed {shown(old)}"
    return f"{shown(old)} -> {shown(new)}" if old else f"added {shown(new)}"


def counted(count: int, what: str) -> str:
    """3, "fix" -> "3 fixes"."""
    plural = "es" if what.endswith(("x", "s")) else "s"
    return f"{count} {what}{'' if count == 1 else plural}"
