"""The closed vocabulary that authored files may use."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from loralint.canonical.fields import FIELDS
from loralint.checks import TEMPLATES
from loralint.facts import FACTS

TOPICS = (
    "batch", "checkpoint", "data", "diffusion", "distributed", "keys", "kubernetes", "launch", "log", "memory",
    "method", "precision", "quant", "rate", "schedule", "scale", "script", "security", "source", "target",
)  # fmt: skip
NAMES = frozenset(FIELDS) | frozenset(FACTS) | {"item"}
_HIT = "hit."


def check_name(name: str) -> str:
    """The name itself, if conditions may use it: field, fact, `item` of an `each` rule, or `hit.<data>` in levels."""
    if name not in NAMES and not is_of_hit(name):
        raise ValueError(f"{name!r} is no canonical field and no fact{_meant(name, NAMES)}")
    return name


def is_of_hit(name: str) -> bool:
    """Whether a name is bound only once a template has answered, so that only `levels` may use it."""
    return name.startswith(_HIT) and name.removeprefix(_HIT).isidentifier()


def check_place(name: str) -> str:
    """The name itself, if a finding can point at it: a canonical field or the item of an `each` rule."""
    return name if name == "item" else check_field(name)


def check_template(name: str) -> str:
    """The name itself, if it is a registered check template."""
    if name not in TEMPLATES:
        raise ValueError(f"there is no check template {name!r}; templates are {', '.join(sorted(TEMPLATES))}")
    return name


def check_field(name: str) -> str:
    """The name itself, if it is a canonical field (something that a file can set)."""
    if name not in FIELDS:
        raise ValueError(f"{name!r} is no canonical field{_meant(name, FIELDS)}")
    return name


def _meant(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f"; is {close[0]} meant?" if close else ""
