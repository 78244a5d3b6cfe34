"""Bytes of weights: of the frozen base by how it is quantised, and of what trains, with its gradients and state."""

from __future__ import annotations

from loralint.facts.memory.plan import Base, Plan

_BLOCK = 64  # weights that share a constant in bitsandbytes' 4-bit formats: functional.py quantize_4bit, blocksize
_NESTED = 256  # constants that share one of their own: the same, compress_statistics
_GROUP = 128  # weights that share a scale and a zero: group_size of GPTQModel and AutoAWQ by default
STATE_BLOCK = 256  # entries of 8-bit optimizer state that share a constant: bitsandbytes optimizer.py, blockwise


def four_bit(*, nested: bool) -> float:
    """Bytes of a weight in nf4 or fp4: half a byte, and one fp32 constant for each 64; nested ones are 8-bit.

    >>> four_bit(nested=False), round(four_bit(nested=True), 4)
    (0.5625, 0.5159)
    """
    constant = 1 + 4 / _NESTED if nested else 4
    return 0.5 + constant / _BLOCK


def eight_bit() -> float:
    """Bytes of a weight in LLM.int8: one; the fp32 constant of each row does not count beside it."""
    return 1.0


def grouped(bits: int) -> float:
    """Bytes of a weight of GPTQ or AWQ: its bits, and a 16-bit scale and a zero of `bits` for each group.

    >>> round(grouped(4), 4)
    0.5195
    """
    return bits / 8 + (2 + bits / 8) / _GROUP


def base_bytes(base: Base) -> float:
    """Bytes of the base and its copies: packed blocks, and embedding, head and norms as they are."""
    shape = base.shape
    return (shape.packable * base.packed + shape.outside * base.outside) * base.copies


def adapter_entries(plan: Plan) -> int:
    """Trained entries beside the base: A is rank x in and B is out x rank (PEFT, tuners/lora/layer.py); DoRA's
    magnitudes are one for each output (dora.py).
    """
    trained = plan.trained
    if trained.counted is not None:
        return trained.counted
    each = sum(trained.rank * (one.into + one.out) + one.out * trained.dora for one in trained.targets)
    return each * plan.base.shape.layers + trained.saved


def entries(plan: Plan) -> int:
    """All trained entries."""
    return plan.base.shape.parameters if plan.trained.full else adapter_entries(plan)


def weight_bytes(plan: Plan) -> float:
    """Bytes of the base on one GPU. A sharded one is there with its share and two whole blocks, one on its way."""
    if plan.shards.weights == 1:
        return base_bytes(plan.base)
    share = base_bytes(plan.base) / plan.shards.weights if plan.shards.weights else 0
    return share + 2 * plan.base.shape.block * _gathered(plan) if plan.shards.gathers else share


def adapter_bytes(plan: Plan) -> float:
    """Bytes of the adapters and of copies of whole modules on one GPU."""
    return 0 if plan.trained.full else adapter_entries(plan) * plan.trained.width / max(1, plan.shards.weights)


def gradient_bytes(plan: Plan) -> float:
    """Bytes of the gradients on one GPU; DistributedDataParallel keeps them a second time in its buckets, DeepSpeed has
    buckets of a size of their own.
    """
    own = entries(plan) * plan.trained.width
    if plan.shards.gradients == 0:
        return plan.shards.buckets
    bucketed = plan.shards.replicas > 1 and plan.shards.gradients == 1 and not plan.shards.gathers
    return own * (2 if bucketed else 1) / plan.shards.gradients + plan.shards.buckets


def state_bytes(plan: Plan) -> float:
    """Bytes of the optimizer's state, and of a full-precision copy of 16-bit weights where one is kept."""
    trained = plan.trained
    if plan.shards.states == 0 or trained.evicted:
        return 0
    return entries(plan) * (trained.states + trained.master) / plan.shards.states


def scratch_bytes(plan: Plan) -> float:
    """Bytes that an optimizer step takes for itself: torch's foreach loops hold the roots of all second moments."""
    if plan.shards.states == 0:
        return 0
    return entries(plan) * plan.trained.scratch / plan.shards.states


def state_width(states: int, bits: int) -> float:
    """Bytes of state for one trained entry: `states` numbers of `bits`; 8-bit ones share an fp32 constant in blocks.

    >>> state_width(2, 32), state_width(2, 8)
    (8.0, 2.03125)
    """
    return states * (bits / 8 + (4 / STATE_BLOCK if bits == 8 else 0))


def _gathered(plan: Plan) -> float:
    return plan.base.packed if not plan.trained.full else plan.step.compute
