"""A framework's reader for the same keys given as flags on a command line."""

from __future__ import annotations

from functools import partial

from loralint.frameworks.table import Reader

# Lists of keys that fare otherwise on the command line than in the file.
_KEYS = {"onetrainer": "onetrainer_flags"}
# By the identity of a table, which is a constant of its module, and what else may differ. Not kept are readers of one
# program: what they observe and combine is bound to its text.
_KEPT: dict[tuple[object, ...], Reader] = {}


def as_flags(reader: Reader) -> Reader:
    """The reader with the loader of a command line: texts become what is wanted, and nothing refers to anything."""
    if reader.dialect == "flags":
        return reader
    if any(isinstance(one, partial) for one in (*reader.observe, reader.combine)):
        return _made(reader)
    same = (id(reader.table), reader.keys, reader.own, reader.guessed)
    found = _KEPT.get(same)
    if found is None:
        found = _KEPT[same] = _made(reader)
    return found


def _made(reader: Reader) -> Reader:
    keys = _KEYS.get(reader.keys, reader.keys)
    return reader._replace(dialect="flags", dialects=(), keys=keys, coerces=True, references=False, partial=None)
