"""The rule's `when` is itself the fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loralint.checks.conditions import argument
from loralint.checks.hit import Hit, place
from loralint.facts.scope import Scope


def condition(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: suggest (literal or {field}), related ({field: what it says}), both optional."""
    related = tuple((scope.get(field), says) for field, says in args.get("related", {}).items())
    return [Hit(place(scope, at), suggest=argument(args.get("suggest"), scope), related=related)]
