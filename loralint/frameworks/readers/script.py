"""A reader of a file's keys turned into that of the same keys as flags of one script."""

from __future__ import annotations

from collections.abc import Mapping

from loralint.frameworks.table import SKIP, Reader


def started(reader: Reader, decided: Mapping[str, object]) -> Reader:
    """The reader for a command line. decided: canonical field -> what the script itself decides about it."""
    first = {row.field: index for index, row in reversed(list(enumerate(reader.table)))}
    table = tuple(
        row._replace(default=decided[row.field] if first[row.field] == index else SKIP) if row.field in decided else row
        for index, row in enumerate(reader.table)
    )
    return reader._replace(table=table, dialect="flags", coerces=True)
