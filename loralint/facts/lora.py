"""What LoRA does to the step: the multiplier on BA and the two numbers that published configs agree on.

With y = W0 x + s B A x and Adam-like updates of size lr, one step moves y by about 0.46 E rms(x) through B alone, and
by a multiple of P once A has moved too; neither depends on the rank at a given alpha.
"""

from __future__ import annotations

from math import sqrt

from loralint.facts.need import known, number, optional, positive
from loralint.facts.optimizer import lr_sized_step
from loralint.facts.scope import Scope, derived
from loralint.model import Value


def on(scope: Scope) -> Value:
    """Whether LoRA matrices are what trains."""
    return derived(known(scope, "adapter.method") == "lora")


def ratio(scope: Scope) -> Value:
    """alpha/r, which is information and no measure of the step. None without LoRA."""
    shape = _shape(scope)
    return derived(shape and shape[0] / shape[1])


def scale(scope: Scope) -> Value:
    """The multiplier on BA: alpha/r, with rsLoRA alpha/sqrt(r) (PEFT, tuners/lora/layer.py)."""
    shape = _shape(scope)
    return derived(shape and shape[0] / _divisor(scope, shape[1]))


def alpha_eff(scope: Scope) -> Value:
    """Scale times rank, times the size of a gaussian A (std 1/r) over that of the usual A (std 1/sqrt(3n))."""
    kaiming = _kaiming_alpha(scope)
    if kaiming is None or not is_gaussian(scope):
        return derived(kaiming)
    return derived(kaiming * sqrt(3 * positive(scope, "model.hidden")) / positive(scope, "adapter.rank"))


def lr_b(scope: Scope) -> Value:
    """The learning rate of B, which LoRA+ sets apart from that of A."""
    if not known(scope, "lora.on"):
        return derived(None)
    return derived(_lr(scope) * optional(scope, "adapter.loraplus_ratio", 1.0))


def first_step(scope: Scope) -> Value:
    """E = |alpha_eff| * lr_B. None where the optimizer's step is not lr in size and where there is no step."""
    if not known(scope, "lora.on") or not lr_sized_step(scope):
        return derived(None)
    return derived(_size(number(scope, "lora.alpha_eff"), number(scope, "lora.lr_b")))


def product(scope: Scope) -> Value:
    """P = |alpha_eff| * lr_A * lr_B * n. A moves by lr whatever its start was, so a gaussian A leaves P as it is."""
    alpha = _kaiming_alpha(scope)
    if alpha is None or not lr_sized_step(scope):
        return derived(None)
    first = _size(alpha, number(scope, "lora.lr_b"))
    return derived(first and first * _lr(scope) * positive(scope, "model.hidden"))


def is_gaussian(scope: Scope) -> bool:
    """Whether A starts from a normal distribution of std 1/r."""
    return str(known(scope, "adapter.init")).lower() == "gaussian"


def _size(alpha: float, rate: float) -> float | None:
    """A minus before alpha only mirrors B; without alpha or rate there is no step, which other rules tell."""
    return abs(alpha) * rate if alpha and rate > 0 else None


def _kaiming_alpha(scope: Scope) -> float | None:
    """alpha_eff for PEFT's usual A."""
    shape = _shape(scope)
    return shape and shape[0] * shape[1] / _divisor(scope, shape[1])


def _shape(scope: Scope) -> tuple[float, float] | None:
    """Alpha and rank; None without LoRA."""
    if not known(scope, "lora.on"):
        return None
    alpha = number(scope, "adapter.alpha", "the config has no LoRA alpha")
    return alpha, positive(scope, "adapter.rank", "the config has no LoRA rank")


def _divisor(scope: Scope, rank: float) -> float:
    return sqrt(rank) if known(scope, "adapter.rslora") is True else rank


def _lr(scope: Scope) -> float:
    return number(scope, "optim.lr", "the config has no learning rate")
