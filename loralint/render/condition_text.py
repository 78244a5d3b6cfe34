"""A compiled condition in words: `optim.lr is above 0.01 and adapter.method is lora`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loralint.source.shown import shown

_WORDS = {
    "eq": "is", "ne": "is not", "in": "is", "not_in": "is none of", "has": "holds", "lt": "is below", "gt": "is above",
    "le": "is at most", "ge": "is at least", "multiple_of": "is a multiple of", "matches": "matches",
    "re2": "matches", "between": "is between", "type": "is of type",
}  # fmt: skip
_ORIGINS = {
    "set": ("is written", "is not written"),
    "default": ("is left at its default", "is not left at its default"),
    "absent": ("has no value", "has a value"),
    "known": ("is known", "is not known"),
}


def in_words(condition: Sequence[Any]) -> str:
    """The normal form that `authoring` compiles, as one clause; "a or b" stands in brackets inside of others."""
    head, *rest = condition
    if head == "all":
        return " and ".join(_inner(one) for one in rest)
    if head == "any":
        return " or ".join(_inner(one) for one in rest)
    if head == "not":
        return f"not ({in_words(rest[0])})"
    name, right = str(rest[0]).removeprefix("hit."), rest[1]
    said = (
        _ORIGINS[head][not right]
        if head in _ORIGINS
        else f"{_WORDS[head]} {_operand(right, 'and' if head == 'between' else 'or')}"
    )
    return f"{name} {said}"


def _inner(condition: Sequence[Any]) -> str:
    text = in_words(condition)
    return f"({text})" if condition[0] in {"any", "all"} else text


def _operand(right: object, link: str) -> str:
    if isinstance(right, Mapping):
        return str(right["field"])
    if isinstance(right, list):
        words = [shown(one) for one in right]
        return f" {link} ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
    return f"`{right}`" if isinstance(right, str) and not right.replace("_", "").isalnum() else shown(right)
