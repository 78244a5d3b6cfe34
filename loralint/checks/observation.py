"""One finding for each observation of a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Observation

_OUTCOMES = {
    "crash": "training stops before it starts",
    "lost": "the setting never takes effect",
    "changed": "the run uses another value",
    "harmless": "the run stays the same",
}
# what is wrong with these is the value, so what they propose is one
_OF_VALUES = frozenset({"rejected", "coerced"})


def observed(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: kind, or a list of kinds; `where: key` points at the key; `replaced` wants a replacement, or none."""
    del at
    kinds = args["kind"] if isinstance(args["kind"], list) else [args["kind"]]
    return [_hit(one, args) for one in scope.observations if one.kind in kinds and _wanted(one, args)]


def _wanted(one: Observation, args: Mapping[str, Any]) -> bool:
    return "replaced" not in args or bool(one.replacement) is args["replaced"]


def _hit(one: Observation, args: Mapping[str, Any]) -> Hit:
    value = one.value
    if args.get("where") == "key" and value.key_span is not None:
        value = value._replace(span=value.key_span)
    data = {
        "effect": one.effect,
        "what": one.message,
        "replacement": one.replacement,
        "rewrite": one.rewrite,
        "kind": one.kind,
        "name": value.key,
        "outcome": _OUTCOMES[one.effect],
        "advice": advice(one, lambda key, text: f"{key}: {text}", "the line of "),
        **one.data,
    }
    related = ((one.other, "stands here"),) if one.other is not None else ()
    return Hit(value, data, one.replacement or None, related=related, package=one.package, observation=one)


def advice(one: Observation, pair: Callable[[str, str], str], line: str) -> str:
    """What to write, from what the reader proposes. pair: shows a setting; line: what goes with a key, or nothing."""
    name = one.value.key
    valued = one.rewrite == "value" or (one.kind in _OF_VALUES and one.rewrite != "key")
    if valued and one.replacement:
        return f"write `{pair(name, one.replacement)}`"
    if one.replacement:
        return f"write `{one.replacement}` instead of `{name}`"
    if one.rewrite == "remove":
        return f"remove {line}`{name}`"
    return f"change `{name}`, or remove {'its line' if line else 'it'}"
