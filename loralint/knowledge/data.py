"""The compiled parts of the golden data, each read once and only when a question needs it."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_data")


@cache
def part(name: str) -> Any:
    """Give the parsed `_data/<name>.json`; callers must not change it. Raises OSError where the package lacks it."""
    import json

    with open(os.path.join(_FOLDER, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)
