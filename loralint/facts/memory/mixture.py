"""The shapes of models that are no plain stack of dense blocks: mixtures of experts, and what only has weights here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.facts.memory.census import Census
from loralint.facts.memory.shape import LAYERS, Family, Linear, Shape

if TYPE_CHECKING:
    from loralint.knowledge.catalogue import Architecture

_LEAST, _MOST = 1, 16  # experts that a token is sent to, of which the catalogue does not know the number
# modeling_*.py of transformers 5.24; of other families only the weights are told
_FAMILIES = {
    "mixtral": Family(), "qwen2_moe": Family(), "qwen3_moe": Family(head_norms=True), "olmoe": Family(head_norms=True),
}  # fmt: skip
_SIZES = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size",
)  # fmt: skip

_NOTHING = Shape(0, 0, 0, 0, 0, 0, 0, (), tied=False, gated=False, norms=0, rms=True, head_norms=0)


def counted(found: Census, model: Architecture, reason: str, *, rich: bool) -> Shape:
    """A model whose weights were counted; `reason` says why its blocks are not known, where they are not.

    rich: each token goes to as many experts as it may.
    """
    family, experts = _FAMILIES.get(model.model_type), _experts(model)
    sizes = [_size(model, name) for name in _SIZES]
    if family is None or experts is None or not all(sizes):
        return _NOTHING._replace(counted=found, untold=reason)
    hidden, layers, heads, kept, width, vocabulary = sizes
    number, inner = experts
    sent = min(number, _MOST) if rich else _LEAST
    return Shape(
        hidden, _inner(model, sent, inner, hidden), layers, heads, heads * width, kept * width, vocabulary,
        _attention(model), tied=model.tied, gated=True, norms=family.norms, rms=family.rms,
        head_norms=(heads + kept) * width if family.head_norms else 0, counted=found,
    )  # fmt: skip


def sized(billions: float, reason: str, *, mixture: bool) -> Shape:
    """A model of which nothing but its size is known: as if all of it were packed, in a `mixture` as its experts."""
    weights = round(billions * 1e9)
    found = Census(0 if mixture else weights, weights if mixture else 0, 0, 0, whole=False)
    return _NOTHING._replace(counted=found, untold=reason)


def left_alone(found: Census) -> Census:
    """The same where a quantiser of linear layers leaves bare weights of experts as they are."""
    return found._replace(plain=found.plain + found.experts, experts=0)


def _inner(model: Architecture, sent: int, inner: int, hidden: int) -> int:
    """As wide an MLP as keeps as much: the row itself goes to each of its experts too, beside what is gated there."""
    shared = max(
        (shape[0] for path, shape in _block(model) if path.endswith("gate_proj") and not _EXPERT.search(path)),
        default=0,
    )
    return sent * (inner + hidden // 3) + shared


def _size(model: Architecture, name: str) -> int:
    value = model.sizes.get(name)
    if name == "head_dim" and value is None:
        value = _size(model, "hidden_size") // max(1, _size(model, "num_attention_heads"))
    return value if isinstance(value, int) else 0


def _experts(model: Architecture) -> tuple[int, int] | None:
    """How many experts a block has, and the width inside one; None where neither packed weights nor layers say so."""
    packed = (dict(one.weights).get("down_proj") for one in model.modules if one.path.endswith(".experts"))
    single = [shape for path, shape in _block(model) if _EXPERT.search(path) and path.endswith(_DOWN)]
    if single:
        return len(single), single[0][1]
    return next(((shape[0], shape[2]) for shape in packed if shape and len(shape) == 3), None)


def _attention(model: Architecture) -> tuple[Linear, ...]:
    """The linear layers of a block's attention."""
    named = [(path.rpartition(".")[2], shape) for path, shape in _block(model)]
    listed = [(name, shape) for name, shape in named if LAYERS.get(name, ("", "", ""))[2] in _PARTS]
    return tuple(Linear(name, shape[1], shape[0], LAYERS[name][2]) for name, shape in listed)


_PARTS = ("attention", "output")
_EXPERT = re.compile(r"\.experts\.\d+\.")  # one by itself, as Transformers 4 has them
_DOWN = (".down_proj", ".w2")


def _block(model: Architecture) -> list[tuple[str, tuple[int, ...]]]:
    """Paths and shapes of the linear layers of the last block, which has experts where any has."""
    paths = [one.path for one in model.modules if one.kind in model.whole]
    last = f"{paths[-1]}." if paths else "."
    linears = (one for one in model.modules if one.path.startswith(last) and one.kind == "Linear")
    shapes = ((one.path, dict(one.weights).get("weight")) for one in linears)
    return [(path, shape) for path, shape in shapes if shape]
