"""A framework's reader for the same keys given as flags on a command line."""

from __future__ import annotations

from loralint.frameworks.table import Reader

# By the identity of a table, which is a constant of its module, and what else may differ.
_KEPT: dict[tuple[object, ...], Reader] = {}


def as_flags(reader: Reader) -> Reader:
    """The reader with the loader of a command line: texts become what is wanted, and nothing refers to anything."""
    if reader.dialect == "flags":
        return reader
    same = (id(reader.table), reader.keys, reader.own, reader.guessed)
    found = _KEPT.get(same)
    if found is None:
        found = reader._replace(dialect="flags", dialects=(), coerces=True, references=False, partial=None)
        _KEPT[same] = found
    return found
