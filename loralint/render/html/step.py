"""The effective step of the run in the plane of E and P, against the region that was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loralint.render.html.golden import Gauge
from loralint.render.html.scale import Scale

WIDTH, HEIGHT = 420, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 12, 24, 38
_ORDER = ("S", "A", "B", "note", "", "fine")  # the worst first


class Area(NamedTuple):
    """A rectangle of the drawing, and the tier that counts there, or fine."""

    x: float
    y: float
    width: float
    height: float
    kind: str


class Plane(NamedTuple):
    """areas: no two of them overlap; x, y: the place of the run."""

    areas: tuple[Area, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    x: float
    y: float
    first: Gauge
    product: Gauge
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


def plane(gauges: Sequence[Gauge]) -> Plane | None:
    """None unless both numbers are known and above zero."""
    by_name = {one.parameter: one for one in gauges if one.scale is not None and one.scale.log}
    first, product = by_name.get("lora.E"), by_name.get("lora.P")
    if first is None or product is None:
        return None
    across, up = _axis(first, _LEFT, WIDTH - _RIGHT), _axis(product, HEIGHT - _BOTTOM, _TOP)
    if across is None or up is None:
        return None
    return Plane(
        tuple(_areas(first, product, across, up)),
        tuple(across.marks()),
        tuple(up.marks()),
        across.at(first.number or 0.0),
        up.at(product.number or 0.0),
        first,
        product,
    )


def _axis(gauge: Gauge, start: float, end: float) -> Scale | None:
    """The axis of the gauge, drawn in another place."""
    return gauge.scale and gauge.scale._replace(start=start, end=end)


def _areas(first: Gauge, product: Gauge, across: Scale, up: Scale) -> Iterator[Area]:
    """Where both numbers are fine is the region that published runs keep to; elsewhere the worse of both counts."""
    lying = _stretches(product, up)
    for left, right, one in _stretches(first, across):
        for low, high, other in lying:
            kind = min(one, other, key=_ORDER.index)
            if kind:
                yield Area(left, high, round(right - left, 1), round(low - high, 1), kind)


def _stretches(gauge: Gauge, axis: Scale) -> list[tuple[float, float, str]]:
    """(start, end, kind) of the whole axis in order; an empty kind where no zone lies."""
    assert gauge.scale is not None
    share = (axis.end - axis.start) / (gauge.scale.end - gauge.scale.start)
    found, at = [], gauge.scale.start
    for zone in sorted(gauge.zones):
        if zone.x > at:
            found.append((at, zone.x, ""))
        at = zone.x + zone.width
        found.append((zone.x, at, zone.kind))
    if at < gauge.scale.end:
        found.append((at, gauge.scale.end, ""))
    return [(_moved(start, share, gauge, axis), _moved(end, share, gauge, axis), kind) for start, end, kind in found]


def _moved(place: float, share: float, gauge: Gauge, axis: Scale) -> float:
    """A place of a gauge on another axis with the same numbers."""
    assert gauge.scale is not None
    return round(axis.start + (place - gauge.scale.start) * share, 1)
