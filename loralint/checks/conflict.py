"""Several keys of which only one may be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Value


def conflict(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: fields, of which two or more written ones conflict; `off` lists values that switch a key off."""
    del at
    off = [None, False, *args.get("off", [])]
    written = [value for value in (scope.get(field) for field in args["fields"]) if _on(value, off)]
    if len(written) < 2:
        return []
    first, second = written[0], written[1]
    related = tuple((value, "says it otherwise") for value in written[1:])
    return [Hit(first, {"first": first.key, "second": second.key}, related=related)]


def _on(value: Value, off: list[object]) -> bool:
    return value.span is not None and not any(_same(value.value, one) for one in off)


def _same(value: object, off: object) -> bool:
    """`false` and 0 are two things here, although Python holds them equal."""
    return value is off or (value == off and not isinstance(value, bool) and not isinstance(off, bool))
