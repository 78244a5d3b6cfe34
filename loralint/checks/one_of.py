"""A word that is none of those the framework knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown


def one_of(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: field, values; `ignore_case` when the framework does. Suggests the closest word."""
    del at
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    if not isinstance(value.value, str):
        return []
    word = value.value.lower() if args.get("ignore_case") else value.value
    if word in args["values"]:
        return []
    import difflib

    close = difflib.get_close_matches(word, args["values"], 1, 0.6)
    return [Hit(value, {"values": args["values"]}, close[0] if close else None)]
