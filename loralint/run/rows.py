"""Rows of local training data, counted where that is cheap and certain."""

from __future__ import annotations

import os

from loralint.model import Value
from loralint.run.config import Config

# One JSONL row is rarely under 100 bytes, so this bounds a count to some 100,000 rows and a tenth of a second.
MAX_BYTES = 64 * 1024 * 1024


def local_rows(config: Config, file: str) -> Value | None:
    """Lines of the JSONL files that `data.datasets` names, when every dataset is such a file inside the folder."""
    datasets = config.get("data.datasets")
    names = datasets.value if isinstance(datasets.value, list) else [datasets.value]
    if not names or datasets.span is None:
        return None
    folder = os.path.dirname(os.path.realpath(file))
    try:
        paths = [_jsonl(folder, name) for name in names]
        if sum(map(os.path.getsize, paths)) > MAX_BYTES:
            return None
        total = sum(map(_lines, paths))
    except (_NotCountedError, OSError, ValueError):  # ValueError: a name that no file can have
        return None
    return Value(total, origin="companion", field="run.rows", key=datasets.key, source="counted", reads=(datasets,))


class _NotCountedError(Exception):
    """One dataset is no JSONL file of this folder, so the sum would be wrong."""


def _jsonl(folder: str, name: object) -> str:
    """The path of a regular JSONL file that lies under `folder`, links followed."""
    if not isinstance(name, str) or not name.endswith(".jsonl"):
        raise _NotCountedError
    path = os.path.realpath(os.path.join(folder, name))
    if os.path.commonpath([folder, path]) != folder or not os.path.isfile(path):
        raise _NotCountedError
    return path


def _lines(path: str) -> int:
    """Non-empty lines."""
    with open(path, "rb") as file:
        return sum(1 for line in file if line.strip())
