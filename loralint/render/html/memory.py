"""The memory of one GPU at the peak of a step as a bar, part by part, against the card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loralint.model import Table

WIDTH = 600
_REST = "context and allocator"


class Part(NamedTuple):
    """number: of its colour. x, width: in the drawing."""

    name: str
    gib: float
    number: int
    x: float
    width: float


class Bar(NamedTuple):
    """low, high: ends of the band, in the drawing and in GiB. card: its end in the drawing, None where not known."""

    parts: list[Part]
    peak: float
    band: float
    low: float
    high: float
    card: float | None
    card_gib: float | None
    verdict: str
    measured: bool


def bar(table: Table) -> Bar | None:
    """None where the table has no rows."""
    values = {name: value for name, value in table.rows if isinstance(value, (int, float))}
    if "peak" not in values or "band" not in values:
        return None
    peak, band, card = values["peak"], values["band"], values.get("card")
    unit = WIDTH / (max(peak + band, card or 0) * 1.03)
    return Bar(
        list(_parts(values, unit)),
        peak, band,
        round((peak - band) * unit, 1), round((peak + band) * unit, 1),
        card and round(card * unit, 1), card,
        _verdict(peak, band, card),
        values.get("measured") is True,
    )  # fmt: skip


def _parts(values: dict[object, float], unit: float) -> Iterator[Part]:
    names = ("weights", "adapters", "gradients", "optimizer", "activations", "logits")
    known = [(name, values[name]) for name in names if name in values]
    rest = values["peak"] - sum(size for _, size in known)
    x = 0.0
    for number, (name, size) in enumerate([*known, *([(_REST, rest)] if rest > 0 else [])]):
        yield Part(name, size, number, round(x, 1), round(size * unit, 1))
        x += size * unit


def _verdict(peak: float, band: float, card: float | None) -> str:
    if card is None:
        return ""
    return "does not fit" if peak - band > card else "may not fit" if peak + band > card else "fits"
