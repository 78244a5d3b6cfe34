"""Keys that somebody wrote and that the run will not use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope


def without_effect(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: fields, of which `at_least` (1) must be written. One hit, at the first written of `at`, else of fields."""
    values = [scope.get(field) for field in args["fields"]]
    written = [value for value in values if value.span and value.value not in (None, False)]
    if len(written) < args.get("at_least", 1):
        return []
    places = [value for value in (scope.get(field) for field in at) if value.span]
    where = (places or written)[0]
    related = tuple((value, "has no effect") for value in written if value is not where)
    names = ", ".join(value.key for value in written)
    return [Hit(where, {"keys": names, "count": len(written)}, related=related)]
