"""Which of two sources a setting comes from, and what becomes of the other."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

from loralint.knowledge.data import part

# The usual order, strongest first; golden/precedence.yaml has the exceptions.
ORDER = ("flags", "env", "config", "script", "dataset", "deepspeed", "launcher", "accelerate", "manifest", "default")


class Relation(NamedTuple):
    """How two sources of one setting stand. stronger: the kind whose value counts. how: override (ordinary use),
    ignored (what the weaker says has no effect) or conflict (the run stops). message: what happens, empty for override.
    package: the one whose version decides, if any does.
    """

    stronger: str
    weaker: str
    how: str
    message: str = ""
    package: str = ""


def relation(
    one: str, other: str, field: str, framework: str, launchers: Container[str], version_is: Callable[[str], bool]
) -> Relation:
    """Say which of two kinds of source counts for a field, in whichever order they are given.

    launchers: names of the programs that start the run. version_is answers "trl>=0.22".
    """
    for frameworks, starter, versions, stronger, weaker, how, message in part("precedence")["rows"].get(field, ()):
        pair = _ordered(one, other, stronger, weaker)
        if (
            pair is not None
            and (not frameworks or framework in frameworks)
            and (not starter or starter in launchers)
            and (not versions or version_is(versions))
        ):
            return Relation(*pair, how, message, versions.partition("=")[0].rstrip("<>!~"))
    first, second = sorted((one, other), key=rank)
    return Relation(first, second, "override")


def rank(kind: str) -> int:
    """The place of a kind of source in the usual order, 0 for the strongest. Raises ValueError for an unknown kind."""
    return ORDER.index(kind)


def together(field: str) -> tuple[str, ...]:
    """The fields that one setting decides with this one, itself included."""
    groups: Sequence[Any] = part("precedence")["together"]
    return next((tuple(group) for group in groups if field in group), (field,))


def _ordered(one: str, other: str, stronger: list[str], weaker: list[str]) -> tuple[str, str] | None:
    if one in stronger and other in weaker:
        return one, other
    return (other, one) if other in stronger and one in weaker else None
