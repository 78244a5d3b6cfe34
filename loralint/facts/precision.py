"""Which number formats the run computes and stores in."""

from __future__ import annotations

from loralint.facts.need import Missing, known
from loralint.facts.scope import Scope, derived
from loralint.model import Value

_FLOATS = ("bf16", "fp16", "fp32")


def compute(scope: Scope) -> Value:
    """Format of the matrix products: bf16, fp16 or fp32. Without autocast it is that of the base weights."""
    bf16, fp16 = known(scope, "precision.bf16"), known(scope, "precision.fp16")
    if bf16 is True and fp16 is True:
        raise Missing("bf16 and fp16 are both on")
    if bf16 is True or known(scope, "precision.pure_bf16") is True:
        return derived("bf16")
    if fp16 is True:
        return derived("fp16")
    if bf16 == "auto":
        return derived("bf16" if known(scope, "gpu.bf16") else "fp16")
    return derived(_without_autocast(scope))


def quantised(scope: Scope) -> Value:
    """Whether the base weights are quantised, by the config or already in the model that it names."""
    bits = known(scope, "quant.bits")
    asked = isinstance(bits, (int, float)) and not isinstance(bits, bool) and bits < 16
    return derived(asked or known(scope, "model.prequantized") != "none")


def adapter_dtype(scope: Scope) -> str:
    """Format that the adapter is stored and updated in: fp32 unless told otherwise, since PEFT casts it up."""
    stored = known(scope, "adapter.dtype")
    if stored is None:
        return "bf16" if known(scope, "precision.pure_bf16") is True else "fp32"
    if stored not in _FLOATS:
        raise Missing("the dtype of the adapter weights is unknown")
    return str(stored)


def _without_autocast(scope: Scope) -> str:
    if known(scope, "quant.bits") == 4:  # bitsandbytes multiplies in its own format, fp32 when not told
        return _word(known(scope, "quant.compute_dtype"))
    base = known(scope, "model.dtype")
    if base is None and known(scope, "precision.bf16") is None and known(scope, "precision.fp16") is None:
        raise Missing("the config says nothing of its precision")
    return _word(known(scope, "model.native_dtype") if base == "auto" else base)


def _word(dtype: object) -> str:
    if dtype is None:
        return "fp32"
    if dtype not in _FLOATS:
        raise Missing(f"dtype `{dtype}` is none that loralint knows")
    return str(dtype)
