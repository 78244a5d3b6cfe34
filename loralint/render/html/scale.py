"""Where a number lies on a drawn axis, and the marks of that axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, floor, log10
from typing import NamedTuple

from loralint.source.shown import shown

_WIDE = 30  # highest over lowest from which an axis counts in powers of ten
_MARKS = 5


class Scale(NamedTuple):
    """From `low` to `high` on the axis, from `start` to `end` in the drawing; `log`: in powers of ten."""

    low: float
    high: float
    log: bool
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; the end of the axis for one beyond it."""
        low, high, value = (_bent(one, self.log) for one in (self.low, self.high, value))
        share = (value - low) / (high - low)
        return round(self.start + (self.end - self.start) * min(1.0, max(0.0, share)), 1)

    def marks(self) -> Iterator[tuple[float, str]]:
        """(place, label) of a few round numbers."""
        return ((self.at(value), shown(float(value))) for value in (self._powers() if self.log else self._steps()))

    def _powers(self) -> list[float]:
        first, last = ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9)
        step = max(1, ceil((last - first) / _MARKS))
        return [10.0**power for power in range(first, last + 1, step)] or [self.low, self.high]

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / _MARKS
        unit = 10.0 ** floor(log10(rough))
        step = next(unit * one for one in (1, 2, 5, 10) if unit * one >= rough * 0.999)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def fitted(values: Iterable[float], start: float, end: float, *, log: bool | None = None, pad: float = 0.04) -> Scale:
    """An axis that holds all values with room at both ends. log: None to let the values decide."""
    every = sorted(values)
    low, high = every[0], every[-1]
    if log is None:
        log = low > 0 and high / low >= _WIDE
    if log:
        low = next((one for one in every if one > 0), 1e-9)
        room = max(0.15, (log10(max(high, low)) - log10(low)) * pad)
        return Scale(low / 10**room, max(high, low) * 10**room, True, start, end)
    room = (high - low) * pad if high > low else abs(high) * 0.5 or 1.0
    return Scale(low - room if low else low, high + room, False, start, end)


def _bent(value: float, log: bool) -> float:
    return log10(max(value, 1e-300)) if log else value
