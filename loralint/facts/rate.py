"""Where the learning rate ends, and what weight decay adds up to."""

from __future__ import annotations

from loralint.facts.need import Missing, known, number, optional, text
from loralint.facts.optimizer import decays_by_rate
from loralint.facts.scope import Scope, derived
from loralint.model import Value

_NO_RATE = "the config has no learning rate"
_LEVEL = frozenset({"constant", "constant_with_warmup", "none"})
_FALLING = frozenset({"linear", "cosine", "cosine_with_restarts", "warmup_stable_decay"})
_POLYNOMIAL_END = 1e-7  # transformers, get_polynomial_decay_schedule_with_warmup: lr_end


def end(scope: Scope) -> Value:
    """The learning rate of the last step."""
    name = text(scope, "schedule.name", "the config names no learning-rate schedule")
    lr = number(scope, "optim.lr", _NO_RATE)
    if name in _LEVEL:
        return derived(lr)
    floor = _floor(scope, lr)
    if floor is not None:
        return derived(floor)
    if name in _FALLING:
        return derived(0.0)
    if name == "polynomial":
        return derived(_POLYNOMIAL_END)
    raise Missing(f"where the schedule `{name}` ends is unknown")


def decay_total(scope: Scope) -> Value:
    """Share of a weight that decay alone takes away, 1 - (1 - lr*wd)^steps at the peak rate: an upper bound.

    None where the optimizer's decay is not lr*wd a step (L2 in the gradient, self-chosen rate).
    """
    decay = number(scope, "optim.weight_decay", "the config has no weight decay")
    if decay == 0:
        return derived(0.0)
    if not decays_by_rate(scope):
        return derived(None)
    kept = min(1.0, max(0.0, 1 - number(scope, "optim.lr", _NO_RATE) * decay))
    return derived(1 - kept ** number(scope, "steps.total"))


def _floor(scope: Scope, lr: float) -> float | None:
    """The rate that decay is told to end at."""
    if known(scope, "schedule.min_lr") is not None:
        return number(scope, "schedule.min_lr")
    share = known(scope, "schedule.min_lr_ratio")
    return None if share is None else lr * optional(scope, "schedule.min_lr_ratio", 0.0)
