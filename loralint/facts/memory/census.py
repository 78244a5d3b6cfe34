"""Weights of a whole model, counted module by module: experts, towers, encoders and biases included."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from loralint.knowledge.targets import holds_experts

if TYPE_CHECKING:
    from loralint.knowledge.catalogue import Architecture
    from loralint.knowledge.structure import Module

_LINEAR = ("Linear", "Conv1D")  # what bitsandbytes replaces: transformers integrations/bitsandbytes.py


class Census(NamedTuple):
    """Weights in entries. `packed`: of linear layers but the head, which quantisers pack. `experts`: of those that are
    bare weights of one module, as Transformers 5 has them, which bitsandbytes leaves alone. `plain`: all others.
    `block`: of the largest block that is gathered as a whole. `whole`: no shape was unknown and left out.
    """

    packed: int
    experts: int
    plain: int
    block: int
    whole: bool = True

    @property
    def parameters(self) -> int:
        """All weights."""
        return self.packed + self.experts + self.plain


def census(model: Architecture) -> Census:
    """Count a model, without weights of unknown shape."""
    whole = True
    sums = {"packed": 0, "experts": 0, "plain": 0}
    blocks: dict[str, int] = {one.path: 0 for one in model.modules if one.kind in model.whole}
    for module in model.modules:
        count = 0
        for name, shape in _own(module, model):
            if shape is None:
                whole = False
                continue
            count += prod(shape)
            sums[_kind(module, name, shape, model)] += prod(shape)
        if count and (block := _block(module.path, blocks)) is not None:
            blocks[block] += count
    return Census(**sums, block=max(blocks.values(), default=0), whole=whole)


def _own(module: Module, model: Architecture) -> Iterator[tuple[str, tuple[int, ...] | None]]:
    """A module's weights but those that are another's too."""
    if module.kind == "Same" or _repeats(module, model):
        return
    for name, shape in module.weights:
        path = f"{module.path}.{name}"
        others = path in model.shared and (model.tied or path != f"{model.head}.weight")
        if name not in ("groups", "tied_bias") and not others:
            yield name, shape


def _repeats(module: Module, model: Architecture) -> bool:
    """Whether it is the embedding once more, as the encoder and the decoder of BART and its like have it."""
    ends = module.path.endswith(".embed_tokens") and module.path != model.embedding
    return ends and module.kind == "Embedding" and model.tied and f"{model.embedding}".endswith("shared")


def _kind(module: Module, name: str, shape: tuple[int, ...], model: Architecture) -> str:
    if module.kind in _LINEAR:
        return "packed" if name == "weight" and module.path != model.head else "plain"
    return "experts" if len(shape) == 3 and holds_experts(module.path, module.kind) else "plain"


def _block(path: str, blocks: dict[str, int]) -> str | None:
    """The block that a module lies in."""
    words = path.split(".")
    outer = (".".join(words[:length]) for length in range(len(words), 0, -1))
    return next((one for one in outer if one in blocks), None)
