"""What a config says of the base model's memory."""

from __future__ import annotations

from loralint.facts.memory.plan import Base
from loralint.facts.memory.shape import Shape, shape_of
from loralint.facts.memory.weights import eight_bit, four_bit, grouped
from loralint.facts.need import Missing, known, optional, text
from loralint.facts.scope import Scope
from loralint.model import Unknown

WIDTHS = {"bf16": 2, "fp16": 2, "fp32": 4}


def base(scope: Scope, *, rich: bool) -> Base:
    """The base model: `rich` casts what is not quantised to fp32, as prepare_model_for_kbit_training does."""
    shape = _shape(scope)
    packed = _packed(scope, nested=not rich)
    if packed is None:
        width = _stored(scope)
        return Base(shape, width, width)
    if known(scope, "model.prequantized") in ("gptq", "awq"):
        return Base(shape, packed, 2, quantised=True)
    return Base(
        shape, packed, 4 if rich else 2, quantised=True, held=packed == eight_bit() and _holds(scope, rich=rich)
    )


def _holds(scope: Scope, *, rich: bool) -> bool:
    """Whether 8-bit products keep their inputs: reentrant checkpointing runs them without a graph at first."""
    if known(scope, "memory.gradient_checkpointing") is not True:
        return True
    reentrant = known(scope, "memory.reentrant")
    return rich if reentrant is None else reentrant is False


def _shape(scope: Scope) -> Shape:
    from loralint.knowledge.models import find

    known(scope, "model.family")  # which says why where the model is not known
    name = text(scope, "model.base", "the config names no base model")
    found = find(name)
    if found is None:
        raise Missing(f"base model `{name}` is not in the catalogue")
    return shape_of(found, name)


def _packed(scope: Scope, *, nested: bool) -> float | None:
    """Bytes of a quantised weight; None where it is not quantised. `nested` where nobody says so."""
    before = known(scope, "model.prequantized")
    bits = optional(scope, "quant.bits", 16)
    if before in ("gptq", "awq"):
        return grouped(int(bits) if bits < 16 else 4)
    if before == "bnb-4bit" or (before == "none" and bits == 4 and _by_bnb(scope)):
        told = known(scope, "quant.double")
        return four_bit(nested=nested if told is None or before != "none" else told is True)
    if before == "bnb-8bit" or (before == "none" and bits == 8 and _by_bnb(scope)):
        return eight_bit()
    if before != "none" or bits < 16:
        raise Missing("the bytes of a weight under this quantisation are not known here")
    return None


def _by_bnb(scope: Scope) -> bool:
    return known(scope, "quant.method") in (None, "bnb")


def _stored(scope: Scope) -> int:
    """Bytes of a weight that is not quantised."""
    if known(scope, "adapter.method") == "full" and known(scope, "adapter.dtype") in WIDTHS:
        return WIDTHS[str(known(scope, "adapter.dtype"))]
    if isinstance(scope.get("model.dtype").value, Unknown) and known(scope, "precision.bf16") == "auto":
        return 2  # bf16 or, where the card has none, fp16
    told = known(scope, "model.dtype")
    if told is None and known(scope, "precision.pure_bf16") is True:
        return 2
    word = known(scope, "model.native_dtype") if told == "auto" else told
    if word not in WIDTHS:
        raise Missing("the config does not say which dtype the base model is loaded in")
    return WIDTHS[str(word)]
