"""A reader of a file's keys turned into that of the same keys as flags of one script."""

from __future__ import annotations

from collections.abc import Mapping

from loralint.frameworks.table import SKIP, Reader


def started(reader: Reader, defaults: Mapping[str, object]) -> Reader:
    """The reader for a command line. defaults: canonical field -> what the script itself decides about it."""
    rows, told = [], set()
    for row in reader.table:
        if row.field in defaults:
            row = row._replace(default=SKIP if row.field in told else defaults[row.field])
            told.add(row.field)
        rows.append(row)
    return reader._replace(table=tuple(rows), dialect="flags", coerces=True)
