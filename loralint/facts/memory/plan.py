"""What the formulas ask of a run. Sizes of one entry are in bytes, everything else in entries, rows or tokens."""

from __future__ import annotations

from typing import NamedTuple

from loralint.facts.memory.shape import Linear, Shape


class Base(NamedTuple):
    """The base model on one GPU.

    `packed`: bytes of a weight of a block, quantised or not. `outside`: of a weight of embedding, head or norms, which
    decides the width of the residual stream too. `quantised`: weights are unpacked for each product.
    `held`: products keep their inputs where checkpointing does not see it. `copies`: how often the model is there in
    all, with a frozen reference beside one that trains.
    """

    shape: Shape
    packed: float
    outside: int
    quantised: bool = False
    held: bool = False
    copies: int = 1


class Trained(NamedTuple):
    """What trains: the base itself, or adapters of `rank` on `targets` beside whole modules of `saved` entries, or
    `counted` entries in all, where somebody counted.

    `dora`: each adapter has magnitudes too. `width`: bytes of a trained weight, and of its gradient. `states`: bytes of
    optimizer state for a trained weight, `evicted` where they can be paged out. `master`: bytes of a further copy in
    full precision. `scratch`: bytes that an optimizer step takes beside its state.
    """

    full: bool
    rank: int
    targets: tuple[Linear, ...]
    saved: int
    width: int
    states: float
    evicted: bool
    master: int
    scratch: int
    dora: bool = False
    counted: int | None = None


class Pass(NamedTuple):
    """One forward and backward pass.

    `rows` sequences of `length` tokens, of which `each` belong together. `compute`: bytes of an entry in matrix
    products; `autocast`: torch casts to that as it goes. `attention`: eager or fused. `masked`: padding makes an
    attention mask, so keys and values are repeated for each query head. `dropout`: the adapter's. `checkpointed`:
    blocks are recomputed; `offloaded`: what they start from waits in the CPU's memory. `kernels`: share of a block's
    activations that fused kernels still keep. `fused_loss`: logits are never there as a whole. `passes`: of them make
    one optimizer step. `referenced`: logits of a reference model are made while those of the trained one wait.
    """

    rows: int
    length: int
    compute: int
    autocast: bool
    attention: str
    masked: bool
    dropout: bool
    checkpointed: bool
    offloaded: bool
    kernels: float
    fused_loss: bool
    passes: int
    referenced: bool = False
    each: int = 1

    @property
    def tokens(self) -> int:
        """Tokens of one pass."""
        return self.rows * self.length

    @property
    def accumulates(self) -> bool:
        """Whether gradients of an earlier pass are there already."""
        return self.passes > 1


class Shards(NamedTuple):
    """Over how many GPUs each part is split, 0 where it waits in the CPU's memory.

    `replicas`: processes that exchange gradients. `gathers`: blocks are gathered one by one before they are used.
    `buckets`: bytes in which gradients wait for each other before they are exchanged.
    """

    weights: int = 1
    gradients: int = 1
    states: int = 1
    replicas: int = 1
    gathers: bool = False
    buckets: float = 0


class Plan(NamedTuple):
    """One run on one of its GPUs."""

    base: Base
    trained: Trained
    step: Pass
    shards: Shards = Shards()
