"""The learning rate over a run, as a share of its peak; no torch here."""

from __future__ import annotations

from math import cos, pi
from typing import NamedTuple

SHAPES = ("constant", "constant_with_warmup", "linear", "cosine", "cosine_with_restarts", "polynomial")
_POINTS = 200


class Schedule(NamedTuple):
    """shape: one of SHAPES. warm: share of the run that warms up. floor: share of the peak at which decay ends."""

    shape: str = "constant"
    warm: float = 0.0
    floor: float = 0.0


def factor(schedule: Schedule, at: float) -> float:
    """The rate at a share of the run (0 to 1) over its peak, as Transformers' schedulers have it."""
    if at < schedule.warm:
        return at / schedule.warm
    if schedule.shape.startswith("constant"):
        return 1.0
    left = (1 - at) / (1 - schedule.warm) if schedule.warm < 1 else 0.0
    shape = 0.5 * (1 - cos(pi * left)) if schedule.shape.startswith("cosine") else left
    return schedule.floor + (1 - schedule.floor) * max(0.0, shape)


def mean_factor(schedule: Schedule) -> float:
    """The mean over the run."""
    return sum(factor(schedule, (point + 0.5) / _POINTS) for point in range(_POINTS)) / _POINTS
