"""How far all steps of a run together take its adapter; no torch here.

While B is near zero a step lowers the loss by what it moves times the gradient. SGD moves by rate times gradient, with
momentum in the end 1/(1 - momentum) times as far; Adam and its kin move every entry of B by about the rate, so there
the gradient's sum over B counts, at most its norm times the root of B's entries. Most of a gradient is the noise of its
few rows, so this is no forecast of the gain: real runs set the bounds that it is held against.
"""

from __future__ import annotations

from math import sqrt

from loralint.probe.plan import Plan
from loralint.probe.schedule import mean_factor


def reach(plan: Plan, norm: float, entries: int) -> float | None:
    """The reach of a run, None where its length is unknown. norm: of the first gradient. entries: numbers in all B."""
    if plan.steps is None:
        return None
    arm = plan.arm
    rates = arm.lr * arm.lr_ratio * mean_factor(plan.schedule) * plan.steps
    if arm.optimizer == "sgd":
        return rates * _kept(arm.momentum, plan.steps) * norm * min(norm, arm.clip)
    return rates * norm * sqrt(entries)


def _kept(momentum: float, steps: float) -> float:
    """How often a gradient is applied in all, on average no more than half the run."""
    endless = 1 / (1 - momentum) if momentum < 1 else steps
    return min(endless, max(1.0, steps / 2))
