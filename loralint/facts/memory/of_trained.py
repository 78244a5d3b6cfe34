"""What a config says of what trains, and of its optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.facts.memory.of_pass import WIDTHS, halved, zero_stage
from loralint.facts.memory.plan import Base, Trained
from loralint.facts.memory.shape import Linear, Shape
from loralint.facts.memory.weights import state_width
from loralint.facts.need import Missing, known, optional, positive, text
from loralint.facts.precision import adapter_dtype
from loralint.facts.scope import Scope

if TYPE_CHECKING:
    from loralint.knowledge.optimizers import Optimizer

_FULL = "full"
_EMBEDDINGS = frozenset({"embed_tokens", "embed_in", "wte", "tok_embeddings", "lm_head", "embed_out", "output"})


def trained(scope: Scope, own: Base, *, rich: bool) -> Trained:
    """What trains, with its optimizer's state; `rich` keeps paged state on the GPU."""
    method = text(scope, "adapter.method", "the config does not say what it trains")
    if method not in ("lora", _FULL):
        raise Missing(f"how much memory the method `{method}` takes is not known here")
    if method == _FULL and known(scope, "model.vision") is True:
        raise Missing("whether the vision tower trains with the rest is not known here")
    optimizer, states = _optimizer(scope)
    targets, count = _adapted(scope, own.shape, rich=rich) if method == "lora" else ((), None)
    sharded = zero_stage(scope) > 0 and halved(scope)
    width = 2 if sharded else own.outside if method == _FULL else _adapter_width(scope, rich=rich)
    bits = 32 if sharded else optimizer.state_bits or 8 * width
    return Trained(
        full=method == _FULL,
        rank=int(positive(scope, "adapter.rank", "the config gives no rank")) if method == "lora" else 0,
        targets=targets,
        saved=_saved(scope, own, rich=rich) if method == "lora" else 0,
        width=width,
        states=state_width(states, bits),
        evicted=optimizer.paged and not rich,
        master=4 if sharded else 0,
        scratch=_scratch(optimizer, width, sharded=sharded) if rich else 0,
        dora=method == "lora" and known(scope, "adapter.dora") is True,
        counted=count,
    )


def _optimizer(scope: Scope) -> tuple[Optimizer, int]:
    """The optimizer and how many numbers it keeps for a trained one; momentum is what SGD keeps, if it has any."""
    from loralint.knowledge.optimizers import find

    name = text(scope, "optim.name", "the config names no optimizer")
    found = find(name)
    if found is not None and found.states is not None:
        return found, found.states
    if found is not None and found.family == "sgd":
        return found, 1 if optional(scope, "optim.momentum", 0) else 0
    raise Missing(f"the size of the state of optimizer `{name}` is not known here")


def _scratch(optimizer: Optimizer, width: int, *, sharded: bool) -> int:
    """Bytes for each trained weight that a step may take beside its state: DeepSpeed makes gradients of full precision
    (zero/stage_1_and_2.py, step), torch's foreach loops the roots of the second moments.
    """
    if sharded:
        return 4
    return 0 if optimizer.fused or optimizer.bnb else width


def _adapter_width(scope: Scope, *, rich: bool) -> int:
    """Bytes of an adapter's weight: where its dtype is not known, 16 bits, or 32 if `rich`."""
    try:
        return WIDTHS[adapter_dtype(scope)]
    except Missing:
        return 4 if rich else 2


def _saved(scope: Scope, own: Base, *, rich: bool) -> int:
    """Entries that train as a copy of embedding or head. They keep the base's dtype unless a trainer casts them up:
    `rich` takes that, else they count for as many adapter entries as their bytes are worth.
    """
    names = known(scope, "adapter.modules_to_save")
    listed = [str(name).rpartition(".")[2] for name in names] if isinstance(names, (list, tuple)) else []
    count = len(_EMBEDDINGS.intersection(listed)) * own.shape.vocabulary * own.shape.hidden
    return count if rich else count * own.outside // 4


def _adapted(scope: Scope, shape: Shape, *, rich: bool) -> tuple[tuple[Linear, ...], int | None]:
    """The layers of a block that get an adapter, and how many entries train where PEFT's matching had to say so.

    Where blocks differ, `rich` takes that each has all of them, and else that none has.
    """
    special = ("adapter.rank_pattern", "adapter.layers", "adapter.target_parameters", "adapter.exclude")
    kind = known(scope, "targets.kind")
    if shape.counted or kind not in ("all-linear", "list") or any(known(scope, field) for field in special):
        return _counted(scope, shape, rich=rich)
    if kind == "all-linear":
        return shape.linears, None
    ends = [str(name).rpartition(".")[2] for name in _list(known(scope, "targets.names"))]
    found = tuple(one for one in shape.linears if one.name in ends)
    if not found:
        raise Missing("none of the targets is a layer of the model's blocks")
    return found, None


def _counted(scope: Scope, shape: Shape, *, rich: bool) -> tuple[tuple[Linear, ...], int]:
    """The layers that PEFT's matching finds by their names, and all entries that train.

    Of a model of which only the size is known, none: `rich` raises Missing.
    """
    if not rich and shape.counted and not shape.counted.whole:
        return (), 0
    names, count = known(scope, "lora.trainable_by_module"), int(positive(scope, "lora.trainable"))
    found = tuple(one for one in shape.linears if isinstance(names, dict) and one.name in names)
    rank = positive(scope, "adapter.rank", "the config gives no rank")
    alike = count == sum(rank * (one.into + one.out) for one in found) * shape.layers
    return found if rich or alike else (), count


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []
