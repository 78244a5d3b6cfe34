"""How much of A can't move because its storage format rounds every update away."""

from __future__ import annotations

from math import erfc, floor, log2, sqrt

from loralint.facts.lora import is_gaussian
from loralint.facts.need import Missing, known, number, positive
from loralint.facts.optimizer import lr_sized_step
from loralint.facts.precision import adapter_dtype
from loralint.facts.scope import Scope, derived
from loralint.model import Unknown, Value

_SIGNIFICAND_BITS = {"bf16": 8, "fp16": 11}
_NARROWEST = 256  # no published language model is narrower, only ones made for tests


def frozen_share(scope: Scope) -> Value:
    """Share of A's entries that an update of the peak rate leaves as they are; 0 in fp32 and with compensation.

    None where there is no A or the optimizer's step is not lr in size.
    """
    if not known(scope, "lora.on"):
        return derived(None)
    bits = _SIGNIFICAND_BITS.get(adapter_dtype(scope))
    if bits is None or known(scope, "optim.compensated"):
        return derived(0.0)
    if not lr_sized_step(scope):
        return derived(None)
    lr = number(scope, "optim.lr", "the config has no learning rate")
    if lr <= 0:
        return derived(1.0)
    return derived(_share_above(scope, _frozen_from(lr, bits)))


def _frozen_from(lr: float, bits: int) -> float:
    """The power of two from which on entries are stuck.

    Numbers in [2^e, 2^(e+1)) are 2^(e+1-bits) apart, and rounding to nearest loses what is less than half of that.
    """
    return float(2.0 ** (floor(bits + log2(lr)) + 1))


def _share_above(scope: Scope, size: float) -> float:
    """Share of A's entries of at least that size: A ~ U(-1/sqrt(n), 1/sqrt(n)), or N(0, 1/r) where gaussian."""
    if is_gaussian(scope):
        return erfc(size * positive(scope, "adapter.rank", "the config has no LoRA rank") / sqrt(2))
    start = known(scope, "adapter.init")
    if start is not None and str(start).lower() not in {"true", "false"}:
        raise Missing(f"how large the entries of A start is unknown for init `{start}`")
    return max(0.0, 1 - size * sqrt(_width(scope, size)))


def _width(scope: Scope, size: float) -> float:
    """The model's width; the narrowest will do for an unknown model where even that leaves nothing stuck."""
    if isinstance(scope.get("model.hidden").value, Unknown) and size * sqrt(_NARROWEST) >= 1:
        return _NARROWEST
    return positive(scope, "model.hidden")
