"""The facts `memory.*`: GiB on one GPU at the peak of a training step, with rows at their full length."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

from loralint.facts.memory import peak, read, weights
from loralint.facts.memory.plan import Plan, Shards
from loralint.facts.need import known, optional, positive
from loralint.facts.scope import Scope, derived
from loralint.model import Value

GIB = 2**30
# On an H200 (docs/memory.md) the sum is 0.97 to 1.00 of what tensors took, 0.94 for a model of 160M parameters. What
# the allocator cannot give out again is guessed at 10 %; the context took 0.6 GiB there, and takes less on older cards.
LEAST, MOST = 0.95, 1.10
CONTEXT = (0.25, 1.0)  # GiB


class Range(NamedTuple):
    """GiB from the least to the most that a run may take."""

    low: float
    high: float


def span(lean: Plan, rich: Plan) -> Range:
    """The band of two readings of one run."""
    least, most = peak.parts(lean).total, peak.parts(rich).total
    return Range(least * LEAST / GIB + CONTEXT[0], most * MOST / GIB + CONTEXT[1])


def base_weights(scope: Scope) -> Value:
    """The base model, frozen or not; of a sharded one its share and two whole blocks."""
    return _mean(scope, read.frozen, weights.weight_bytes)


def adapters(scope: Scope) -> Value:
    """LoRA's matrices and copies of whole modules."""
    return _mean(scope, read.standing, weights.adapter_bytes)


def gradients(scope: Scope) -> Value:
    """Gradients of what trains, with the buckets of DistributedDataParallel."""
    return _mean(scope, read.standing, weights.gradient_bytes)


def optimizer(scope: Scope) -> Value:
    """The optimizer's state, with full-precision copies of 16-bit weights."""
    return _mean(scope, read.standing, weights.state_bytes)


def activations(scope: Scope) -> Value:
    """What the passes keep and work with beside the logits, at the peak."""
    return _mean(scope, read.plan, lambda one: peak.parts(one).activations)


def logits(scope: Scope) -> Value:
    """Logits, the log of their softmax and their gradients, at the peak."""
    return _mean(scope, read.plan, lambda one: peak.parts(one).logits)


def edges(scope: Scope) -> Value:
    """The band: (lower edge, upper edge) for rows at their full length."""
    return derived(span(read.plan(scope, rich=False), read.plan(scope, rich=True)))


def highest(scope: Scope) -> Value:
    """The middle of the band."""
    return _of_edges(scope, lambda low, high: (low + high) / 2)


def half_band(scope: Scope) -> Value:
    """Half the width of the band: `memory.peak` is right to this much, more or less."""
    return _of_edges(scope, lambda low, high: (high - low) / 2)


def least(scope: Scope) -> Value:
    """The lower edge of the band for rows at their full length."""
    return _of_edges(scope, lambda low, _: low)


def floor(scope: Scope) -> Value:
    """What an optimizer step takes however short the rows are, without anything for the card's own context."""
    return derived(peak.floor_bytes(read.standing(scope, rich=False)) * LEAST / GIB)


def beside_vllm(scope: Scope) -> Value:
    """What vLLM leaves of a GPU on which the model trains too; all of it where it takes no share."""
    return derived(round(positive(scope, "gpu.memory_gib") * (1 - optional(scope, "rl.vllm_share", 0.0)), 1))


def measured(scope: Scope) -> Value:
    """Whether runs of this kind were measured on a card: text, a dense model that one GPU holds, nothing paged."""
    lean = read.standing(scope, rich=False)
    plain = not (lean.trained.evicted or lean.trained.dora or lean.base.shape.counted) and lean.shards == Shards()
    others = scope.get("model.prequantized").value in ("gptq", "awq") or scope.get("quant.method").value == "torchao"
    return derived(plain and scope.get("train.task").value in ("sft", "pt") and not others)


def _of_edges(scope: Scope, figure: Callable[[float, float], float]) -> Value:
    """What follows from the band, which takes two sums and is asked for three times; it rests on what the band does."""
    low, high = cast(Range, known(scope, "memory.edges"))
    return derived(figure(low, high))._replace(reads=scope.get("memory.edges").reads)


def _mean(scope: Scope, reading: Callable[..., Plan], size: Callable[[Plan], float]) -> Value:
    lean, rich = (size(reading(scope, rich=one)) for one in (False, True))
    return derived((lean + rich) / 2 / GIB)
