"""The effective step of the run in the plane of E and P, against the region that was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loralint.render.html.golden import Gauge
from loralint.render.html.scale import Scale

WIDTH, HEIGHT = 420, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 12, 12, 38


class Area(NamedTuple):
    """A rectangle of the drawing, and the tier that counts there, or fine."""

    x: float
    y: float
    width: float
    height: float
    kind: str


class Plane(NamedTuple):
    """areas, from the mildest to the worst; x, y: the place of the run."""

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
    """Zones of E stand upright, zones of P lie; where both are fine is the region that published runs keep to."""
    upright = [(one.kind, *_moved(one.x, one.width, first, across)) for one in first.zones]
    lying = [(one.kind, *_moved(one.x, one.width, product, up)) for one in product.zones]
    for kind, start, end in upright:
        if kind != "fine":
            yield Area(start, _TOP, round(end - start, 1), HEIGHT - _BOTTOM - _TOP, kind)
    for kind, start, end in lying:
        if kind != "fine":
            yield Area(_LEFT, end, WIDTH - _RIGHT - _LEFT, round(start - end, 1), kind)
    fine = [next((start, end) for kind, start, end in zones if kind == "fine") for zones in (upright, lying)]
    (left, right), (low, high) = fine
    yield Area(left, high, round(right - left, 1), round(low - high, 1), "fine")


def _moved(start: float, width: float, gauge: Gauge, axis: Scale) -> tuple[float, float]:
    """Both ends of a zone of a gauge on another axis with the same numbers."""
    assert gauge.scale is not None
    old, size = gauge.scale, gauge.scale.end - gauge.scale.start
    places = ((start - old.start) / size, (start + width - old.start) / size)
    return tuple(round(axis.start + (axis.end - axis.start) * one, 1) for one in places)  # type: ignore[return-value]
