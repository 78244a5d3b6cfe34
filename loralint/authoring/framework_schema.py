"""The JSON Schema of a framework's config, for editors: names, what they mean, usual values, and what is refused.

It may not refuse what the framework's loader takes, so it states no types and no bounds: only unknown keys, and those
only where the loader itself stops at them in every release that is known. Usual values stand in the descriptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loralint.canonical.fields import FIELDS
from loralint.frameworks.detect import by_name, reader
from loralint.frameworks.key_list import key_list
from loralint.frameworks.table import ANY, Reader
from loralint.knowledge.data import part
from loralint.render.golden_page import fine

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
# Keys that loralint takes for a note of the author's, as anchors in YAML are often kept.
_PRIVATE = {"^(_|x-|\\.)": True}
Schema = dict[str, Any]


def framework_schema(name: str) -> Schema:
    """Raises ValueError for a framework that is not known."""
    found = reader(by_name(name))
    lists: Any = key_list(found.keys) if found.keys else {"keys": {"": []}, "unknown": "lost"}
    root = _tree(found, lists)
    if found.listed:
        root = {"items": root}
    elif found.section:
        root = {"properties": {found.section: root}}
    return {"$schema": _DRAFT, "title": f"{found.title} config", **root}


def _tree(found: Reader, lists: Any) -> Schema:
    """The root; a file with keys of another of the framework's parsers is left alone."""
    words = _words(found)
    every = {**{path: list(keys) for path, keys in lists["keys"].items()}}
    for key in words:
        parent, _, last = key.rpartition(".")
        if parent == "" and last not in every.setdefault("", []) and "[" not in last:
            every[""].append(last)
    root = _object("", every, lists, words, found)
    other = lists.get("elsewhere", ())
    if not other:
        return root
    return {"if": {"anyOf": [{"required": [key]} for key in other]}, "then": True, "else": root}


def _object(path: str, every: Mapping[str, list[str]], lists: Any, words: Mapping[str, str], found: Reader) -> Schema:
    properties: Schema = {}
    for key in every[path]:
        dotted = f"{path}.{key}" if path else key
        about: Schema = {"description": words[dotted]} if dotted in words else {}
        if dotted in every:
            about |= _object(dotted, every, lists, words, found)
        if f"{dotted}[]" in every:
            about["items"] = _object(f"{dotted}[]", every, lists, words, found)
        properties[key] = about or True
    for key, said in _moved(path, lists):
        properties.setdefault(key, {"deprecated": True, "description": said})
    made: Schema = {"properties": properties}
    if _refuses(path, lists, found):
        made |= {"patternProperties": _PRIVATE, "additionalProperties": False}
    return made


def _moved(path: str, lists: Any) -> Iterable[tuple[str, str]]:
    """(key, what became of it) of the keys that are renamed, removed or ignored in this mapping."""
    for dotted, rows in lists.get("moved", {}).items():
        row = rows[0] if isinstance(rows, list) else rows
        parent, _, key = dotted.rpartition(".")
        if parent == path:
            instead = row.get("to") or ""
            yield key, row["message"] + (f"; write {instead}" if instead else "")


def _refuses(path: str, lists: Any, found: Reader) -> bool:
    """Whether the loader stops at a key that it does not know, in this mapping and every release."""
    open_ = (
        path in lists.get("loose", ())
        or lists.get("dashes")
        or "lenient" in lists
        or path in lists.get("lax", ())
        or (path == "" and lists.get("plugins"))
        or ANY in found.own
        or found.flat
    )
    return not open_ and lists.get("inside", {}).get(path, lists["unknown"]) == "crash"


def _words(found: Reader) -> dict[str, str]:
    """Dotted key -> what it means, and which values are usual by the golden list."""
    said: dict[str, str] = {}
    for row in found.table:
        field = FIELDS.get(row.field)
        if field is not None and row.key:
            unit = f", in {field.unit}" if field.unit else ""
            key = row.key.replace("[0]", "[]")
            said.setdefault(key, f"{field.doc}{unit}{_usual(row.field)}; loralint: {row.field}")
    return said


def _usual(field: str) -> str:
    """The golden list's ranges, by condition."""
    golden: Any = part("golden")
    entries = golden.get(field, ())
    return "".join(f". {entry['name']}: {fine(entry)}" for entry in entries[:6])
