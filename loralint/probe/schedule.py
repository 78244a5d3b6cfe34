"""The mean of the learning rate over a run, as a share of its peak; no torch here."""

from __future__ import annotations

from loralint.facts.course import SHAPES, Schedule, factor

__all__ = ["SHAPES", "Schedule", "factor", "mean_factor"]

_POINTS = 200


def mean_factor(schedule: Schedule) -> float:
    """The mean over the run."""
    return sum(factor(schedule, (point + 0.5) / _POINTS) for point in range(_POINTS)) / _POINTS
