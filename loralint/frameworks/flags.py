"""A framework's reader for the same keys given as flags on a command line."""

from __future__ import annotations

from loralint.frameworks.table import Reader

# By the identity of a table, which is a constant of its module.
_KEPT: dict[int, Reader] = {}


def as_flags(reader: Reader) -> Reader:
    """The reader with the loader of a command line: texts become what is wanted, and nothing refers to anything."""
    if reader.dialect == "flags":
        return reader
    found = _KEPT.get(id(reader.table))
    if found is None:
        found = reader._replace(dialect="flags", dialects=(), coerces=True, references=False, partial=None)
        _KEPT[id(reader.table)] = found
    return found
