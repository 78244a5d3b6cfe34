"""Keys that contradict one another, hide one another or do nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown, Value


def conflict(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: fields, of which two or more written ones conflict; `off` lists values that switch a key off."""
    del at
    off = [None, False, *args.get("off", [])]
    written = [value for value in (scope.get(field) for field in args["fields"]) if _on(value, off)]
    sure = [value for value in written if value.known]
    if len(sure) < 2:  # a text that is filled in later may come out as off
        hidden = [value.value for value in written if isinstance(value.value, Unknown)]
        return hidden[0] if len(written) > 1 else []
    first, second = sure[0], sure[1]
    related = tuple((value, "says it otherwise") for value in sure[1:])
    return [Hit(first, {"first": first.key, "second": second.key}, related=related)]


def _on(value: Value, off: list[object]) -> bool:
    return value.span is not None and not any(_same(value.value, one) for one in off)


def _same(value: object, off: object) -> bool:
    """`false` and 0 are two things here, although Python holds them equal."""
    return value is off or (value == off and not isinstance(value, bool) and not isinstance(off, bool))


def shadowed(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: fields. One hit for each field whose winning value hides a different one from another key, or with `same`
    an equal one too. `apart`: the two keys are of two sections, or classes. `wins`, `hidden`: the two values.
    """
    del at
    hits = []
    for field in args["fields"]:
        value = scope.get(field)
        for other in value.shadowed:
            counts = args.get("same") or other.value != value.value
            if other.known and value.known and other.key != value.key and counts:
                apart = value.key.rpartition(".")[0] != other.key.rpartition(".")[0]
                data = {"first": value.key, "second": other.key, "of": field, "apart": apart}
                data |= {"wins": value.value, "hidden": other.value}
                hits.append(Hit(other, data, related=((value, "which wins"),)))
    return hits


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
