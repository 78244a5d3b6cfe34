"""The compiled parts of the golden data, each read once and only when a question needs it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_data")


@cache
def part(name: str) -> Any:
    """Give the parsed `_data/<name>.json`; callers must not change it. Raises OSError where the package lacks it."""
    import json

    return json.loads(_text(name))


def entries(name: str, keys: Iterable[str]) -> dict[str, Any]:
    """Some values of the mapping in `_data/<name>.json`, without reading the others; what it lacks is left out.

    keys: each the key of nothing else in that file, such as the code of a rule.
    """
    import json

    text, decoder = _text(name), json.JSONDecoder()
    found = ((key, text.find(f'"{key}":')) for key in keys)  # not in a text, where quotes stand behind a backslash
    return {key: decoder.raw_decode(text, start + len(key) + 3)[0] for key, start in found if start >= 0}


def _text(name: str) -> str:
    with open(os.path.join(_FOLDER, f"{name}.json"), encoding="utf-8") as file:
        return file.read()
