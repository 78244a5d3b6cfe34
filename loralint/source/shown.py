"""A value as people read it: short numbers, lists with commas, no secrets, no control characters."""

from __future__ import annotations

from loralint.model import Unknown
from loralint.source.clean import clean
from loralint.source.secrets import redact

_PATH = 4096  # the longest path that Linux opens


def path(name: str) -> str:
    """A file's name, whole, so that it can be opened from the output.

    A line that starts with `::` is a command to GitHub's runner (actions/runner, ActionCommand.cs), and often a colon
    follows a name: so no name starts with one.
    """
    return clean(redact(f"./{name}" if name.lstrip().startswith(":") else name), limit=_PATH)


def shown(value: object, limit: int = 200) -> str:
    """At most `limit` characters."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return clean(", ".join(shown(one) for one in value), limit=limit)
    if isinstance(value, Unknown):
        value = f"unknown: {value.reason}"
    return clean(redact(str(value)), limit=limit)


def _number(value: float) -> str:
    """Three digits that count, in a spelling that every loader reads as a number: 7094, 0.0002, 5.0e-05."""
    text = f"{value:.3g}"
    if "e" not in text:
        return text
    if 1 < abs(value) < 1e7:
        return f"{value:.0f}"
    digits, _, power = text.partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}e{power}"
