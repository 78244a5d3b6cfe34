"""A framework's reader for the same keys given as flags on a command line."""

from __future__ import annotations

from loralint.frameworks.table import Reader

# Lists of keys that fare otherwise on the command line than in the file.
_KEYS = {"onetrainer": "onetrainer_flags"}
# By the identity of a table, which is a constant of its module, and what else may differ.
_KEPT: dict[tuple[object, ...], Reader] = {}


def as_flags(reader: Reader) -> Reader:
    """The reader with the loader of a command line: texts become what is wanted, and nothing refers to anything."""
    if reader.dialect == "flags":
        return reader
    same = (id(reader.table), reader.keys, reader.own, reader.guessed)
    found = _KEPT.get(same)
    if found is None:
        keys = _KEYS.get(reader.keys, reader.keys)
        found = reader._replace(dialect="flags", dialects=(), keys=keys, coerces=True, references=False, partial=None)
        _KEPT[same] = found
    return found
