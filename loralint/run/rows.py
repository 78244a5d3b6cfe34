"""Rows of local training data, counted where that is cheap and certain."""

from __future__ import annotations

import os

from loralint.model import Unknown, Value
from loralint.run.config import Config

# One JSONL row is rarely under 100 bytes, so this bounds a count to some 100,000 rows and a tenth of a second.
MAX_BYTES = 64 * 1024 * 1024


def local_rows(config: Config, file: str) -> Value | None:
    """Lines of the JSONL files that `data.datasets` names, when every dataset is such a file inside the folder."""
    datasets = config.get("data.datasets")
    names = datasets.value if isinstance(datasets.value, list) else [datasets.value]
    if not names or datasets.span is None or any(isinstance(name, Unknown) for name in names):
        return None
    folder = os.path.dirname(os.path.realpath(file))
    counts = [_lines(folder, name) for name in names]
    if any(count is None for count in counts):
        return None
    total = sum(count for count in counts if count is not None)
    return Value(total, origin="companion", field="run.rows", key=datasets.key, source="counted", reads=(datasets,))


def _lines(folder: str, name: object) -> int | None:
    """Non-empty lines of a JSONL file that lies under `folder`; None when it is none, is missing or too large."""
    if not isinstance(name, str) or not name.endswith(".jsonl"):
        return None
    path = os.path.realpath(os.path.join(folder, name))
    if os.path.commonpath([folder, path]) != folder or not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
        return None
    with open(path, "rb") as file:
        return sum(1 for line in file if line.strip())
