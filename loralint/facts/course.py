"""The learning rate over the steps of a run, as Transformers' schedulers have it."""

from __future__ import annotations

from math import cos, pi
from typing import NamedTuple

from loralint.facts.need import Missing, known, number, positive, text
from loralint.facts.scope import Scope, derived
from loralint.model import Value

SHAPES = ("constant", "constant_with_warmup", "linear", "cosine", "cosine_with_restarts", "polynomial")
_POINTS = 96  # of the drawn curve beside the end of warm-up


class Schedule(NamedTuple):
    """shape: one of SHAPES. warm: warm-up over the run, above 1 where the run ends first. floor: share of the peak at
    which decay ends.
    """

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


def course(scope: Scope) -> Value:
    """[(step, learning rate)] from the first to the last step, with the points where warm-up and schedule end."""
    peak = positive(scope, "optim.lr", "the config has no learning rate")
    name = text(scope, "schedule.name", "the config names no learning-rate schedule")
    if name not in SHAPES:
        raise Missing(f"the shape of the schedule `{name}` is not known here")
    steps, warm = number(scope, "steps.total"), number(scope, "steps.warmup")
    length = steps if known(scope, "schedule.steps") is None else positive(scope, "schedule.steps")
    shape = Schedule(name, warm / length, number(scope, "lr.end") / peak)
    places = {steps * point / _POINTS for point in range(_POINTS + 1)} | {min(warm, steps), min(length, steps)}
    return derived([(place, peak * factor(shape, min(1.0, place / length))) for place in sorted(places)])
