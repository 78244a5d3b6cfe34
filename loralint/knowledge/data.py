"""The compiled parts of the golden data, each read once and only when a question needs it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_data")
_USUAL = 8192  # bytes that hold most entries
# What a project adds of its own, by the part that it is added to: whole parts, in place of the package's.
_OWN: dict[str, Any] = {}


@cache
def part(name: str) -> Any:
    """Give the parsed `_data/<name>.json`; callers must not change it. Raises OSError where the package lacks it."""
    return _OWN[name] if name in _OWN else shipped(name)


@cache
def shipped(name: str) -> Any:
    """Give the part as the package has it, without what a project adds."""
    import json

    return json.loads(_bytes(name))


def added(name: str) -> Any:
    """A part that only a project has, such as golden entries for keys; empty where it has none."""
    return _OWN.get(name, {})


def replace(parts: Mapping[str, Any]) -> bool:
    """Give these parts from now on, and of all others the package's own. False where they are given already."""
    if _OWN.keys() == parts.keys() and all(_OWN[name] is parts[name] for name in parts):
        return False
    _OWN.clear()
    _OWN.update(parts)
    part.cache_clear()
    return True


def entries(name: str, keys: Iterable[str]) -> dict[str, Any]:
    """Some entries of `_data/<name>.json`, mappings or lists, without reading the others; what it lacks is left out.

    keys: each the key of nothing else in that file, such as the code of a rule.
    """
    if name in _OWN:
        return {key: _OWN[name][key] for key in keys if key in _OWN[name]}
    import json

    raw = _bytes(name)
    # of a key alone: in a text quotes stand behind a backslash
    marks = ((key, f"{json.dumps(key, ensure_ascii=False)}:".encode(errors="replace")) for key in keys)
    found = ((key, raw.find(mark), len(mark)) for key, mark in marks)
    return {key: _value(raw, start + length) for key, start, length in found if start >= 0}


def _value(raw: bytes, start: int) -> Any:
    """The mapping that starts there. Of a large file only as much is decoded as it may take."""
    import json

    size = _USUAL
    while True:
        try:
            return json.JSONDecoder().raw_decode(raw[start : start + size].decode("utf-8", "ignore"))[0]
        except ValueError:  # cut off
            if start + size >= len(raw):
                raise
            size *= 4


def _bytes(name: str) -> bytes:
    with open(os.path.join(_FOLDER, f"{name}.json"), "rb") as file:
        return file.read()
