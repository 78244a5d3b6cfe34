"""What a config says of the base model's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.facts.memory.census import census
from loralint.facts.memory.mixture import counted, left_alone, sized
from loralint.facts.memory.of_pass import WIDTHS, referenced, scores
from loralint.facts.memory.plan import Base
from loralint.facts.memory.shape import TOLERANCE, Shape, shape_of
from loralint.facts.memory.weights import eight_bit, four_bit, grouped
from loralint.facts.model import found as known_model
from loralint.facts.model import unlisted
from loralint.facts.need import Missing, known, optional, text
from loralint.facts.scope import Scope
from loralint.model import Unknown

if TYPE_CHECKING:
    from loralint.knowledge.models import ModelFacts


def base(scope: Scope, *, rich: bool) -> Base:
    """The base model: `rich` casts what is not quantised to fp32, as prepare_model_for_kbit_training does."""
    shape, copies = _shape(scope, rich=rich), _copies(scope, rich=rich)
    packed = _packed(scope, nested=not rich)
    if packed is None:
        width = _stored(scope)
        return Base(shape, width, width, copies=copies)
    if known(scope, "model.prequantized") in ("gptq", "awq"):
        return Base(shape, packed, 2, quantised=True, copies=copies)
    if rich and shape.counted and not shape.counted.whole:
        raise Missing(shape.untold)
    if shape.counted and shape.counted.experts and _left(scope, rich=rich):
        shape = shape._replace(counted=left_alone(shape.counted))
    held = packed == eight_bit() and _holds(scope, rich=rich)
    return Base(shape, packed, 4 if rich else 2, quantised=True, held=held, copies=copies)


def _left(scope: Scope, *, rich: bool) -> bool:
    """Whether the experts stay as they are beside a quantised base; where nobody knows, the least is that they do not.

    Raises Missing for the most.
    """
    left = scope.get("model.experts_unquantised").value
    if rich and isinstance(left, Unknown):
        raise Missing(left.reason)
    return isinstance(left, list)


def _copies(scope: Scope, *, rich: bool) -> int:
    """How often the model is there: a reference beside a model that trains whole, unless its answers were made before.

    An adapter is switched off for the reference (trl dpo_trainer.py). Raises Missing where another model is the one.
    """
    told = known(scope, "pref.reference_model")
    if told is not None and told != known(scope, "model.base"):
        raise Missing(f"the size of the reference model `{told}` is not known here")
    if told is not None:
        return 2
    return 2 if rich and known(scope, "adapter.method") == "full" and referenced(scope) else 1


def _holds(scope: Scope, *, rich: bool) -> bool:
    """Whether 8-bit products keep their inputs: reentrant checkpointing runs them without a graph at first."""
    if known(scope, "memory.gradient_checkpointing") is not True:
        return True
    reentrant = known(scope, "memory.reentrant")
    return rich if reentrant is None else reentrant is False


def _shape(scope: Scope, *, rich: bool) -> Shape:
    """The shapes; a model that scores may come without the head of the vocabulary."""
    known(scope, "model.family")  # which says why where the model is not known
    name = text(scope, "model.base", "the config names no base model")
    model = known_model(scope)
    if model is None:
        raise unlisted(scope)
    try:
        shape = shape_of(model, name)
    except Missing as reason:
        return _counted(scope, model, reason.reason, rich=rich)
    return shape._replace(tied=True) if scores(scope) and not rich else shape


def _counted(scope: Scope, model: ModelFacts, reason: str, *, rich: bool) -> Shape:
    """A model of any architecture by its modules, else by its size. Raises Missing where neither is known."""
    from loralint.facts.architecture import built

    try:
        architecture = built(scope, scope.version("transformers") or "5")
    except Missing as unsolved:
        return _sized(model, unsolved.reason)
    found = census(architecture)
    if model.params is not None and abs(found.parameters / (model.params * 1e9) - 1) > TOLERANCE:
        told = "do not add up to its size" if found.whole else "have sizes that the catalogue does not know"
        return _sized(model, f"the layers of the base model {told}", whole=found.whole)
    if model.params is None and not found.whole:
        raise Missing("the catalogue does not have all sizes of the base model")
    return counted(found, architecture, reason, rich=rich)


def _sized(model: ModelFacts, reason: str, *, whole: bool = False) -> Shape:
    """A model by its size alone. Raises Missing without one, and where its `whole` layers say otherwise."""
    if model.params is None or whole:
        raise Missing(reason)
    return sized(model.params, reason, mixture=model.moe)


def _packed(scope: Scope, *, nested: bool) -> float | None:
    """Bytes of a quantised weight; None where it is not quantised. `nested` where nobody says so."""
    before = known(scope, "model.prequantized")
    bits = optional(scope, "quant.bits", 16)
    if before in ("gptq", "awq"):
        return grouped(int(bits) if bits < 16 else _told_bits(scope) or 4)
    if before == "bnb-4bit" or (before == "none" and bits == 4 and _by_bnb(scope)):
        told = known(scope, "quant.double")
        return four_bit(nested=nested if told is None or before != "none" else told is True)
    if (
        before == "none"
        and bits == 4
        and known(scope, "quant.method") == "torchao"
        and known(scope, "quant.type") == "nf4"
    ):
        return four_bit(nested=True)  # as large: 64 weights share an 8-bit scale (torchao nf4tensor.py, to_nf4)
    if before == "bnb-8bit" or (before == "none" and bits == 8 and _by_bnb(scope)):
        return eight_bit()
    if before != "none" or bits < 16:
        raise Missing("the bytes of a weight under this quantisation are not known here")
    return None


def _told_bits(scope: Scope) -> int | None:
    """Bits of a weight that was quantised before, by the model's own config.json."""
    model = known_model(scope)
    return model.bits if model is not None else None


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
