"""A value as people read it: short numbers, lists with commas, no secrets, no control characters."""

from __future__ import annotations

from loralint.model import Unknown
from loralint.source.clean import clean
from loralint.source.secrets import redact

_PATH = 4096  # the longest path that Linux opens


def path(name: str) -> str:
    """A file's name, whole, so that it can be opened from the output."""
    return clean(redact(name), limit=_PATH)


def shown(value: object, limit: int = 200) -> str:
    """At most `limit` characters."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return clean(", ".join(shown(one) for one in value), limit=limit)
    if isinstance(value, Unknown):
        value = f"unknown: {value.reason}"
    return clean(redact(str(value)), limit=limit)
