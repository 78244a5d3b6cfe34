"""Rows of modules below one path, brought below another: so that a class is told as another one's with its own head."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loralint.knowledge.structure import Row


def moved(rows: Iterable[Row], lists: Mapping[str, str], old: str, new: str) -> tuple[list[Row], dict[str, str]]:
    """The rows and counts of what lies below one prefix, brought below another; without the root's own row."""
    return (
        [[path, *row[1:]] for row in rows if below(row[0], old) and (path := _moved(row[0], old, new))],
        {_moved(path, old, new): count for path, count in lists.items() if below(path, old)},
    )


def below(path: str, prefix: str) -> bool:
    """Whether a path is the prefix or below it; the root is below none but a longer prefix."""
    return path == prefix or path.startswith(prefix + ".") if prefix else path != ""


def _moved(path: str, old: str, new: str) -> str:
    rest = path[len(old) :].lstrip(".") if old else path
    return f"{new}.{rest}" if new and rest else new or rest
