"""A curve as places in a drawing: the lines, the marks of both axes, and where it is not finite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf
from typing import NamedTuple

from loralint.render.html.scale import Scale, fitted

WIDTH, HEIGHT = 420, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 24, 38
_LABEL = 60  # that the label of a mark may take
Points = Sequence[tuple[float, float | None]]


class Mark(NamedTuple):
    """A value of x that is drawn as an upright line. side: of the line that the label stands at, 1 for the right."""

    x: float
    label: str
    kind: str = "mark"
    side: int = 1


class Chart(NamedTuple):
    """lines: points of each unbroken part. across, up: (place, label) on the axes. broken: places without a value."""

    title: str
    x: str
    y: str
    lines: tuple[str, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    marks: tuple[Mark, ...]
    broken: tuple[float, ...]
    said: str = ""
    band: tuple[float, float] | None = None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


def chart(
    title: str, x: str, y: str, points: Points, *, log: bool = False, marks: Sequence[Mark] = (), zero: bool = False,
    said: str = "", until: float | None = None, most: float = inf,
) -> Chart | None:  # fmt: skip
    """None where no point has a value. log: x counts in powers of ten. zero: y starts there. until: shaded up to it.

    most: values above it lie on the upper edge.
    """
    values = [value for _, value in points if value is not None]
    if not values:
        return None
    places = [place for place, _ in points if place > 0 or not log] + [one.x for one in marks]
    across = fitted(places, _LEFT, WIDTH - _RIGHT, log=log, pad=0.0 if not log else 0.02)
    up = fitted([*(min(most, one) for one in values), *([0.0] if zero else [])], HEIGHT - _BOTTOM, _TOP, log=False)
    return Chart(
        title, x, y,
        tuple(_lines(points, across, up)),
        tuple(across.marks()),
        tuple(up.marks()),
        tuple(_placed(marks, across)),
        tuple(across.at(place) for place, value in points if value is None),
        said,
        None if until is None else (across.at(across.low), across.at(until)),
    )  # fmt: skip


def _placed(marks: Sequence[Mark], across: Scale) -> Iterator[Mark]:
    """Labels turn away from each other, where there is room for them."""
    ordered = sorted(marks, key=lambda one: one.x)
    for number, one in enumerate(ordered):
        at = across.at(one.x)
        left = at > across.start + _LABEL and (number + 1 < len(ordered) or at > across.end - _LABEL)
        yield one._replace(x=at, side=-1 if left else 1)


def _lines(points: Points, across: Scale, up: Scale) -> Iterator[str]:
    for known, some in groupby(points, key=lambda point: point[1] is not None):
        if known:
            yield " ".join(f"{across.at(x):g},{up.at(y):g}" for x, y in some if y is not None)
