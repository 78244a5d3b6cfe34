"""The model's blocks with the layers that get an adapter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from loralint.model import Table

_MOST = 60  # layers that are drawn


class Layer(NamedTuple):
    """kind: all, some, none or whole (trained itself). there, adapted: how many of them."""

    name: str
    path: str
    kind: str
    there: int
    adapted: int
    trained: int | None


class Group(NamedTuple):
    """Layers with one parent, such as `self_attn`."""

    name: str
    layers: list[Layer]


class Block(NamedTuple):
    """times: how often it stands in the model; 1 for what stands outside of blocks."""

    name: str
    times: int
    groups: list[Group]


class Coverage(NamedTuple):
    """left: kinds of layers that are not drawn. trained: parameters, None where a shape is not known."""

    blocks: list[Block]
    adapted: int
    layers: int
    trained: int | None
    left: int


def coverage(table: Table) -> Coverage | None:
    """None where the table has no rows."""
    rows = [_layer(*row) for row in table.rows]
    if not rows:
        return None
    counts = [one.trained for one in rows]
    return Coverage(
        _blocks(rows[:_MOST]),
        sum(one.adapted for one in rows),
        sum(one.there for one in rows),
        None if None in counts else sum(one or 0 for one in counts),
        max(0, len(rows) - _MOST),
    )


def _layer(path: object, count: object, adapted: object, whole: object, trained: object) -> Layer:
    assert isinstance(count, int) and isinstance(adapted, int) and isinstance(whole, int)  # noqa: PT018 - one shape
    kind = "whole" if whole else "all" if adapted == count else "some" if adapted else "none"
    name = str(path).rpartition(".")[2]
    return Layer(name, str(path), kind, count, adapted, trained if isinstance(trained, int) else None)


def _blocks(layers: Iterable[Layer]) -> list[Block]:
    blocks: list[Block] = []
    for one in layers:
        head, star, rest = one.path.partition(".*")
        name = f"{head}{star}" if star else ""
        if not blocks or blocks[-1].name != name:
            blocks.append(Block(name, 1, []))
        block, parent = blocks[-1], rest.strip(".").rpartition(".")[0].replace("*", "").strip(".") if star else ""
        if not block.groups or block.groups[-1].name != parent:
            block.groups.append(Group(parent, []))
        block.groups[-1].layers.append(one)
        times = one.there if one.path.count(".*") == 1 else 1
        blocks[-1] = block._replace(times=max(block.times, times))
    return blocks
