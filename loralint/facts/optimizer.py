"""What the optimizer's name selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.facts.need import Missing, known, text
from loralint.facts.precision import adapter_dtype
from loralint.facts.scope import Scope, derived
from loralint.model import Value

if TYPE_CHECKING:
    from loralint.knowledge.optimizers import Optimizer

_FAMILIES = frozenset(["adamw", "adam", "sgd", "lion", "adafactor", "prodigy", "dadapt", "muon", "schedulefree"])
_LR_SIZED = frozenset({"adamw", "adam", "lion", "adafactor", "schedulefree"})
_DECOUPLED = frozenset({"adamw", "lion", "adafactor", "schedulefree", "sgd", "muon"})
_ON = (True, "True", "true")
_BITS = {"fp32": 32, "bf16": 16, "fp16": 16}


def family(scope: Scope) -> Value:
    """adamw, adam, sgd, lion, adafactor, prodigy, dadapt, muon, schedulefree or other."""
    name = _optimizer(scope).family
    return derived(name if name in _FAMILIES else "other")


def unit_lr(scope: Scope) -> Value:
    """Whether it finds its own step and takes lr as a factor near 1."""
    return derived(_optimizer(scope).unit_lr)


def bnb(scope: Scope) -> Value:
    """Whether it is one of bitsandbytes'."""
    return derived(_optimizer(scope).bnb)


def paged(scope: Scope) -> Value:
    """Whether its state can be paged to the CPU."""
    return derived(_optimizer(scope).paged)


def state_bits(scope: Scope) -> Value:
    """Width of one entry of its state, by default that of the adapter's weights; None for one that keeps no state."""
    optimizer = _optimizer(scope)
    if optimizer.states == 0:
        return derived(None)
    return derived(optimizer.state_bits or _BITS[adapter_dtype(scope)])


def compensated(scope: Scope) -> Value:
    """Whether updates below half a bf16 step add up all the same (Kahan summation, stochastic rounding)."""
    return derived(_optimizer(scope).rounding is not None)


def lr_sized_step(scope: Scope) -> bool:
    """Whether an update is about lr in size whatever the gradient's scale, as with Adam.

    An Adafactor told to scale by the weights or to choose its own rate is none; neither is torch's, which always does.
    """
    optimizer = _optimizer(scope)
    if optimizer.family == "adafactor":
        args = known(scope, "optim.args")
        scaled = isinstance(args, dict) and any(args.get(key) in _ON for key in ("scale_parameter", "relative_step"))
        return not scaled and not text(scope, "optim.name", "").lower().startswith("torch.")
    return optimizer.family in _LR_SIZED and not optimizer.unit_lr and "SGD" not in optimizer.name


def decays_by_rate(scope: Scope) -> bool:
    """Whether weight decay multiplies a weight by 1 - lr*wd each step, apart from the gradient."""
    optimizer = _optimizer(scope)
    return optimizer.family in _DECOUPLED and not optimizer.unit_lr


def _optimizer(scope: Scope) -> Optimizer:
    from loralint.knowledge.optimizers import find

    name = text(scope, "optim.name", "the config names no optimizer")
    found = find(name)
    if found is None:
        raise Missing(f"optimizer `{name}` is not in the list")
    return found
