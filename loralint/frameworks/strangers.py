"""Keys that show that a file, whatever it looks like, is read by another program: nobody here knows what that takes."""

from __future__ import annotations

from typing import Any

from loralint.frameworks.key_list import abbreviated, bare, is_known, key_list, parent_of, top_keys, walk
from loralint.frameworks.lookup import closest
from loralint.frameworks.table import Reader, Values
from loralint.model import Unknown
from loralint.source.document import Document
from loralint.source.shown import shown

# One key that resembles none may be a slip; two are a habit of somebody else's.
_FEWEST = 2
_ALL = "what the program makes of `all` is not known"
# Comparing a key with hundreds takes milliseconds.
_MOST = 40


def program_of_its_own(document: Document, reader: Reader) -> str:
    """Why a file is one of another program's that shares most of its keys with the framework; "" where it is not.

    Only lists with `akin` are asked: those of formats that many programs fill classes of their own from, or fork.
    """
    lists: Any = key_list(reader.keys) if reader.keys else {}
    if "akin" not in lists or document.root is None:
        return ""
    found = _strange(document, reader, lists)
    if len(found) < _FEWEST:
        return ""
    first, second = (f"`{shown(key)}`" for key in found[:2])
    return f"{first} and {second} are no keys of {reader.title}, so that a program of its own reads the file"


def in_own_words(reader: Reader) -> Reader:
    """The reader of a file of another program's, whose word for every layer is its own."""

    def combine(document: Document, values: Values) -> Values:
        fields = reader.combine(document, values) if reader.combine is not None else {}
        targets = {**values, **fields}.get("adapter.targets", ())
        if not targets or targets[0].value != "all":
            return fields
        return {**fields, "adapter.targets": (targets[0]._replace(value=Unknown(_ALL), items=()),)}

    return reader._replace(combine=combine)


def _strange(document: Document, reader: Reader, lists: Any) -> list[str]:
    """Keys of different names that the framework does not know, has not known and nobody would take for one of its."""
    assert document.root is not None
    top, moved = top_keys(reader.keys), lists.get("moved", {})
    related = frozenset().union(*(top_keys(name) for name in lists["akin"]))
    names: dict[str, str] = {}
    for dotted, pair in walk(document.root, lists["keys"]):
        plain = bare(dotted)
        if plain in moved or pair.key in related or is_known(dotted, pair.key, top, lists["keys"]):
            continue
        if not abbreviated(lists, dotted) and dotted not in reader.own:
            names.setdefault(pair.key, parent_of(dotted, pair.key))
        if len(names) == _MOST:
            break
    return [key for key, inside in names.items() if not closest(key, lists["keys"].get(inside, ()))]
