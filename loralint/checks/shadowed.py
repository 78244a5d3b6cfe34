"""One setting written through two keys with two meanings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope


def shadowed(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: fields. One hit for each field whose winning value hides a different one from another key."""
    del at
    hits = []
    for field in args["fields"]:
        value = scope.get(field)
        for other in value.shadowed:
            if other.known and value.known and other.key != value.key and other.value != value.value:
                data = {"first": value.key, "second": other.key, "of": field}
                hits.append(Hit(other, data, related=((value, "which wins"),)))
    return hits
