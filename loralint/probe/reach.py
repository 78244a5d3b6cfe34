"""How far all steps of a run together take its adapter; no torch here.

While B is near zero a step lowers the loss by what it moves times the gradient. SGD moves by rate times gradient, with
momentum in the end 1/(1 - momentum) times as far; Adam and its kin move every entry of B by about the rate, so there
the gradient's sum over B counts, at most its norm times the root of B's entries. Most of a gradient is the noise of its
few rows, so this is no forecast of the gain: real runs set the bounds that it is held against.

On the run's own model the ramp is such a forecast itself: until its rates sum to the run's it is as good as the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import sqrt

from loralint.probe.plan import Plan
from loralint.probe.schedule import mean_factor


def far(
    kind: str, plan: Plan, rates: Sequence[float], losses: Sequence[float], norm: float, entries: int
) -> float | None:
    """What tells runs that stall: on the run's own model the nats that the ramp gained, on other kinds the reach."""
    return gained(plan, rates, losses) if kind == "own" else reach(plan, norm, entries)


def reach(plan: Plan, norm: float, entries: int) -> float | None:
    """The reach of a run, None where its length is unknown. norm: of the first gradient. entries: numbers in all B."""
    if plan.steps is None:
        return None
    arm = plan.arm
    rates = sum_of_rates(plan) * arm.lr_ratio
    if arm.optimizer == "sgd":
        return rates * _kept(arm.momentum, plan.steps) * norm * min(norm, arm.clip)
    return rates * norm * sqrt(entries)


def gained(plan: Plan, rates: Sequence[float], losses: Sequence[float]) -> float | None:
    """What a ramp (its rates, its losses less the base's) had gained, in nats, when its rates summed to the run's.

    None where the run's length is unknown, or the ramp was broken off before that.
    """
    if plan.steps is None:
        return None
    wanted, best = sum_of_rates(plan), 0.0
    for summed, loss in zip(accumulate(rates), losses[1:], strict=False):
        best = max(best, -loss)
        if summed >= wanted:
            return best * wanted / summed
    return best if len(losses) == len(rates) else None


def sum_of_rates(plan: Plan) -> float:
    """The rates of A over a run of known length."""
    assert plan.steps is not None
    return plan.arm.lr * mean_factor(plan.schedule) * plan.steps


def _kept(momentum: float, steps: float) -> float:
    """How often a gradient is applied in all, on average no more than half the run."""
    endless = 1 / (1 - momentum) if momentum < 1 else steps
    return min(endless, max(1.0, steps / 2))
