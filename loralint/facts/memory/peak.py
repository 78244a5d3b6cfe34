"""The moment at which a step needs most, and how far that may be off."""

from __future__ import annotations

from typing import NamedTuple

from loralint.facts.memory import activations, weights
from loralint.facts.memory.plan import Plan

_FP32 = 4
_LIGER = (
    8  # bytes an entry of the residual stream: a chunk of logits is about as large (liger fused_linear_cross_entropy)
)


class Parts(NamedTuple):
    """Bytes on one GPU by what they are for, at the moment `moment` of the largest sum."""

    weights: float
    adapters: float
    gradients: float
    optimizer: float
    activations: float
    logits: float
    moment: str

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self[:6])


def parts(plan: Plan) -> Parts:
    """The largest of the moments of a step."""
    return max(_moments(plan), key=lambda one: one.total)


def floor_bytes(plan: Plan) -> float:
    """Bytes that are there in every optimizer step, however short the rows are."""
    made = weights.weight_bytes(plan) + weights.adapter_bytes(plan)
    return made + weights.gradient_bytes(plan) + weights.state_bytes(plan)


def _moments(plan: Plan) -> list[Parts]:
    standing = (weights.weight_bytes(plan), weights.adapter_bytes(plan))
    gradients, state = weights.gradient_bytes(plan), weights.state_bytes(plan)
    earlier = gradients if plan.step.accumulates else 0
    casts, block = activations.casts(plan), activations.block_bytes(plan)
    layers = 1 if plan.step.checkpointed else plan.base.shape.layers
    kept = activations.kept_bytes(plan) + activations.last_norm_bytes(plan)
    held = kept + casts.block * layers + (0 if plan.step.checkpointed else casts.trained)
    working = backward_bytes(plan)
    recomputed = working + (block if plan.step.checkpointed else 0)
    last = working + block + casts.block
    forward = kept + casts.block * layers + casts.trained + casts.head
    return [
        Parts(*standing, earlier, state, forward, forward_loss_bytes(plan), "loss"),
        Parts(*standing, earlier, state, held + casts.head, backward_loss_bytes(plan), "gradient of the loss"),
        Parts(*standing, _first(plan, gradients), state, held + recomputed, 0, "last block"),
        Parts(*standing, gradients, state, last, 0, "first block"),
        Parts(*standing, gradients, state, _tied(plan), 0, "embedding"),
        Parts(*standing, gradients, state + weights.scratch_bytes(plan), 0, 0, "optimizer step"),
    ]


def forward_loss_bytes(plan: Plan) -> float:
    """Bytes of logits while the loss is made: as computed, in fp32 where that differs, and the log of the softmax.

    Where a reference is asked next, its logits and their logs come beside those that wait, all in fp32 by then.
    """
    if plan.step.fused_loss:
        return _chunk(plan)
    compute = plan.step.compute
    entry = 4 * _FP32 if plan.step.referenced else compute + _FP32 * (1 if compute == _FP32 else 2)
    return plan.step.tokens * plan.base.shape.vocabulary * entry


def backward_loss_bytes(plan: Plan) -> float:
    """Bytes when its gradient is made: log of the softmax, its gradient, and that of the logits, all in fp32."""
    if plan.step.fused_loss:
        return _chunk(plan)
    return plan.step.tokens * plan.base.shape.vocabulary * 3 * _FP32


def backward_bytes(plan: Plan) -> float:
    """Bytes that the backward pass of a block takes beside what it keeps, in its MLP or later in its attention.

    The MLP: two gradients of the inner width as products have them, and one in fp32 where an adapter casts. Attention,
    by when the MLP's own are gone: where eager, gradients of scores and softmax in fp32, in place of the cast scores.
    A quantised weight is unpacked as well. DoRA makes each adapter's product as a matrix, whose norms it takes.
    """
    shape, step = plan.base.shape, plan.step
    cast = _FP32 if plan.trained.targets else 0
    mlp = step.tokens * shape.inner * (2 * step.compute + cast)
    scores = shape.heads * step.rows * step.length**2 * (2 * _FP32 - step.compute % _FP32)
    attention = scores - activations.mlp_bytes(plan) if step.attention == "eager" else 0
    largest = max((one.into * one.out for one in shape.linears), default=0)
    unpacked = largest * step.compute if plan.base.quantised else 0
    return max(mlp, attention, _magnitudes(plan)) + activations.start_bytes(plan) + unpacked


def _magnitudes(plan: Plan) -> float:
    """Bytes that DoRA works with in one layer: a unit matrix as A and B have it, what they make of it, and the sum with
    the weight (peft tuners/lora/dora.py).
    """
    trained, step = plan.trained, plan.step
    if not trained.dora:
        return 0
    kept = step.compute if step.autocast else trained.width  # the unit matrix that waits for a backward pass
    whole = trained.width + (kept if kept != trained.width else 0)
    return max(
        (
            max(one.into**2 * whole + one.into * one.out * kept, one.into**2 * kept + 3 * one.into * one.out * kept)
            for one in trained.targets
        ),
        default=0,
    )


def _first(plan: Plan, gradients: float) -> float:
    """Gradients that are there when the first block to go backward starts: the head's, where it trains."""
    if plan.step.accumulates:
        return gradients
    shape = plan.base.shape
    return gradients * shape.vocabulary * shape.hidden / weights.entries(plan) if plan.trained.full else 0


def _tied(plan: Plan) -> float:
    """Bytes of the gradients of a matrix that is embedding and head, while they are added up.

    Two beside the sum; one where autocast made the head's, which is then added to in place (measured on an H200).
    """
    shape, trained = plan.base.shape, plan.trained
    if not trained.full or not shape.tied:
        return 0
    return (1 if plan.step.autocast else 2) * shape.vocabulary * shape.hidden * trained.width


def _chunk(plan: Plan) -> float:
    return plan.step.tokens * plan.base.shape.hidden * _LIGER
