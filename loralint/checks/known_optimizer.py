"""An optimizer name that the framework's closed list does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown


def known_optimizer(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: names_of, the framework whose list counts (`optimizers.names`). Suggests the closest name."""
    del at
    value = scope.get("optim.name")
    if isinstance(value.value, Unknown):
        return value.value
    from loralint.knowledge.optimizers import names

    known = names(args["names_of"])
    if not isinstance(value.value, str) or not value.span or not known or value.value in known:
        return []
    import difflib

    close = difflib.get_close_matches(value.value, known, 1, 0.6)
    return [Hit(value, {"count": len(known)}, close[0] if close else None)]
