"""Two lists that share a name they must not share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown


def overlap(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: left, right. One hit for each shared name, at its place in `left`."""
    del at
    left, right = scope.get(args["left"]), scope.get(args["right"])
    for value in (left.value, right.value):
        if isinstance(value, Unknown):
            return value
    if right.value is None:
        return []
    names = right.value if isinstance(right.value, list) else [right.value]
    shared = [item for item in left.items if item.value in names and not isinstance(item.value, Unknown)]
    if not shared:
        hidden = (one for one in (*(item.value for item in left.items), *names) if isinstance(one, Unknown))
        return next(hidden, [])
    related = ((right, "names it as well"),)
    places = [item._replace(key=left.key, field=left.field) for item in shared]
    return [Hit(place, {"item": place.value}, related=related) for place in places]
