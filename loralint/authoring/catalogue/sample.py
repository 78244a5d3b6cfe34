"""A model that was built, to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from loralint.authoring.catalogue.trace import Part
from loralint.knowledge.structure import Fields


class Sample(NamedTuple):
    """A model that was built: what was changed, its fields, its modules with plain shapes."""

    changed: dict[str, Any]
    values: dict[str, Any]
    tree: dict[str, Any]
    fields: Fields
    modules: list[Part]


def plain(part: Part) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """A module's weights with the shapes that they were built with."""
    return tuple((name, tuple(map(int, sizes))) for name, sizes in part.weights)


def template(path: str, folded: Mapping[str, str]) -> str:
    """The path with `*` for the numbers of folded lists."""
    words: list[str] = []
    for word in path.split("."):
        words.append("*" if word.isdigit() and ".".join(words) in folded else word)
    return ".".join(words)
