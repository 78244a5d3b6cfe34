"""Bytes that autograd keeps between forward and backward pass, tensor by tensor, for one token of one block.

Found by listing what `torch.autograd.graph.saved_tensors_hooks` sees in Transformers' and PEFT's own classes, and held
to them by `tests/facts/memory`. A product with a frozen weight keeps nothing; everything else keeps its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loralint.facts.memory.plan import Pass, Plan
from loralint.facts.memory.shape import Linear, Shape
from loralint.facts.memory.weights import entries

_FP32 = 4


def block_bytes(plan: Plan) -> float:
    """Bytes of one block for the whole pass."""
    token = (
        _norms(plan) + _attention(plan.base.shape, plan.step) + _mlp(plan.base.shape, plan.step) + sum(_inputs(plan))
    )
    return token * plan.step.kernels * plan.step.tokens + _scores(plan.base.shape, plan.step)


def mlp_bytes(plan: Plan) -> float:
    """The part of `block_bytes` that the backward pass is done with when it comes to attention."""
    shape = plan.base.shape
    inputs = 0.0
    if not plan.trained.full:
        inputs = sum(_adapter_input(one, plan) for one in plan.trained.targets if one.reads in ("mlp", "down"))
    token = _norm(plan) + _mlp(shape, plan.step) + inputs
    return token * plan.step.kernels * plan.step.tokens


def kept_bytes(plan: Plan) -> float:
    """Bytes of all blocks when the backward pass starts: all of them, or what checkpoints start from."""
    step, layers = plan.step, plan.base.shape.layers
    held = layers * input_bytes(plan) if plan.base.held else 0
    if not step.checkpointed:
        return block_bytes(plan) * layers + held
    return held if step.offloaded else layers * start_bytes(plan) + held


def input_bytes(plan: Plan) -> float:
    """Bytes of the inputs of all products of a block, one for those that read the same.

    bitsandbytes' MatMul8bitLt hangs them on its context (ctx.tensors) instead of saving them, so checkpointing that is
    not reentrant does not drop them; measured on an H200, docs/memory.md.
    """
    widths = {one.reads: one.into for one in plan.base.shape.linears}
    return sum(widths.values()) * plan.step.compute * plan.step.tokens


def start_bytes(plan: Plan) -> float:
    """Bytes of the residual stream, which is what a recomputed block starts from."""
    return plan.base.shape.hidden * residual(plan) * plan.step.tokens


def residual(plan: Plan) -> int:
    """Bytes of an entry of the residual stream: that of the embedding, which wins every sum with 16 bits."""
    return max(plan.base.outside, plan.step.compute if not plan.step.autocast else 0)


def last_norm_bytes(plan: Plan) -> float:
    """Bytes of what the norm before the head keeps."""
    return _norm(plan) * plan.step.tokens


class Casts(NamedTuple):
    """Bytes of the 16-bit copies that autocast makes of fp32 weights. `trained` last for the forward pass, and longer
    where a block keeps them; frozen ones last until the backward pass has used them.
    """

    trained: float
    head: float
    block: float


def casts(plan: Plan) -> Casts:
    """Copies of all weights that train, of a frozen head, and of one frozen block."""
    base, step, full = plan.base, plan.step, plan.trained.full
    if not step.autocast or step.compute == _FP32:
        return Casts(0, 0, 0)
    return Casts(
        entries(plan) * step.compute if plan.trained.width == _FP32 else 0,
        0 if full or base.outside != _FP32 else base.shape.vocabulary * base.shape.hidden * step.compute,
        0 if full or base.packed != _FP32 else base.shape.block * step.compute,
    )


def _norm(plan: Plan) -> float:
    """One norm. An RMS norm computes in fp32 and keeps its input so, a layer norm only under autocast; training
    the weight keeps the normed input as well.
    """
    hidden, wide = plan.base.shape.hidden, residual(plan)
    if not plan.base.shape.rms:
        return hidden * (_FP32 if plan.step.autocast else wide) + 2 * _FP32
    return hidden * (_FP32 + (wide if plan.trained.full else 0)) + _FP32


def _norms(plan: Plan) -> float:
    shape = plan.base.shape
    return shape.norms * _norm(plan) + shape.head_norms * (_FP32 + (plan.step.compute if plan.trained.full else 0))


def _attention(shape: Shape, step: Pass) -> float:
    """Queries, keys, values and, where fused, the result and the log of the sums."""
    repeated = step.masked or step.attention == "eager"
    operands = shape.attended + 2 * (shape.attended if repeated else shape.kept)
    if step.attention == "eager":
        return operands * step.compute
    return (operands + shape.attended) * step.compute + shape.heads * _FP32


def _scores(shape: Shape, step: Pass) -> float:
    """Eager attention keeps the whole matrix of weights: in fp32 from softmax, and cast for the product with values.

    Fused attention keeps a mask, where there is one, as numbers for each row (torch, convert_boolean_attn_mask).
    """
    if step.attention != "eager":
        return step.rows * step.length**2 * step.compute if step.masked else 0
    entry = _FP32 + (step.compute if step.compute != _FP32 else 0)
    return shape.heads * step.rows * step.length**2 * entry


def _mlp(shape: Shape, step: Pass) -> float:
    """The inner layer before its activation; gated ones also both factors of the product."""
    return shape.inner * step.compute * (3 if shape.gated else 1)


def _inputs(plan: Plan) -> Iterator[float]:
    """What trained products keep of their inputs."""
    if plan.trained.full:
        yield from _whole_inputs(plan)
    else:
        yield from (_adapter_input(one, plan) for one in plan.trained.targets)
        yield from (_shared_inputs(plan),)


def _whole_inputs(plan: Plan) -> Iterator[float]:
    """Inputs of linear layers that train: one for all that read the same, but autocast casts for each anew.

    Fused attention keeps its result already, and what it and the gated product give is 16-bit under autocast.
    """
    step, linears = plan.step, plan.base.shape.linears
    casts = step.autocast and residual(plan) != step.compute
    for source in ("attention", "mlp"):
        reading = [one for one in linears if one.reads == source]
        yield sum(one.into for one in (reading if casts else reading[:1])) * step.compute
    if step.attention == "eager":
        yield plan.base.shape.attended * step.compute
    yield plan.base.shape.inner * step.compute


def _adapter_input(one: Linear, plan: Plan) -> float:
    """Input and inner product of one adapter. PEFT casts the input to the adapter's dtype, and autocast back."""
    step, trained = plan.step, plan.trained
    product = step.compute if step.autocast else trained.width
    dropped = one.into * (1 if step.dropout else 0)  # a mask of bytes
    copy = one.into * product if not _shares(one, plan) else 0
    scaled = one.out * (step.compute + product) if trained.dora else 0  # DoRA scales the results of layer and adapter
    return copy + dropped + trained.rank * product + scaled


def _shares(one: Linear, plan: Plan) -> bool:
    """Whether the adapter reads its layer's input as it is."""
    step, trained = plan.step, plan.trained
    given = step.compute if one.reads in ("output", "down") else residual(plan)
    needed = step.compute if step.autocast else trained.width
    return not step.dropout and given == trained.width == needed


def _shared_inputs(plan: Plan) -> float:
    """Inputs that several adapters keep together, once for each source but fused attention's result."""
    sharing = {one.reads: one.into for one in plan.trained.targets if _shares(one, plan)}
    if plan.step.attention != "eager":
        sharing.pop("output", None)
    return sum(sharing.values()) * plan.trained.width
