"""What PEFT makes of a model: which modules it adapts, and how many parameters train. Only LoRA.

Follows `inject_adapter` and `_set_trainable` of peft 0.21.2, to which a differential test holds it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import prod
from typing import NamedTuple

from loralint.knowledge.models import MAMBA, MAMBA_NAMES
from loralint.knowledge.structure import Module
from loralint.knowledge.targets import LINEAR, SUPPORTED, Model, Refused, Targets, converted, ends, matcher, rank_of

__all__ = ["LINEAR", "SUPPORTED", "Adapted", "Model", "Refused", "Targets", "adapt"]


class Adapted(NamedTuple):
    """Trainable parameters: of adapters by module, of bare weights by path, of whole modules and of single rows.

    A count is None where the shape of the weight is not known.
    """

    modules: dict[str, int | None]
    parameters: dict[str, int | None]
    saved: dict[str, int | None]
    rows: dict[str, int | None]
    biases: int | None = 0

    @property
    def total(self) -> int | None:
        """All trainable parameters; None where one of them is not known."""
        counts = [
            *self.modules.values(),
            *self.parameters.values(),
            *self.saved.values(),
            *self.rows.values(),
            self.biases,
        ]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None


def adapt(model: Model, targets: Targets) -> Adapted:
    """What get_peft_model makes of a model.

    Raises Refused where it raises, and Unmatchable where an expression cannot be tried.
    """
    targets = converted(model, targets)
    if targets.modules is None:
        raise Refused("no target modules are given, and PEFT has no usual ones for this type")
    matches = matcher(model, targets)
    adapted = {}
    for module in model.modules:
        if module.path and module.kind != "Same" and matches(module.path):
            adapted[module.path] = _adapter(module, model, targets)
    bare = _bare(model, targets, adapted)
    if not adapted and not bare:
        raise Refused("no module matches")
    wrapped = {path.rpartition(".")[0] for path in bare}
    saved = _saved(model, targets.saved, wrapped)
    rows = _rows(model, targets, adapted)
    if _lost(model, saved, rows):
        raise Refused("the head shares the rows that train, and lies inside a module that is trained whole")
    return Adapted(adapted, bare, saved, rows, _biases(model, targets, {*adapted, *wrapped}, saved))


def _lost(model: Model, saved: Mapping[str, object], rows: Mapping[str, object]) -> bool:
    """Whether PEFT looks in vain for the head that shares the rows, since a module around it was wrapped before.

    It does not look where the embedding itself trains whole.
    """
    around = any(f"{model.head}".startswith(f"{path}.") for path in saved)
    whole = any(f"{model.embedding}.".startswith(f"{path}.") for path in saved)
    return model.tied and model.embedding in rows and around and not whole


def _adapter(module: Module, model: Model, targets: Targets) -> int | None:
    """Parameters of a module's adapter."""
    if module.kind not in SUPPORTED:
        raise Refused(f"a module of type {module.kind} takes no adapter", module.path)
    if model.model_type in MAMBA and module.path.rpartition(".")[2] in MAMBA_NAMES:
        raise Refused("the fused kernels of Mamba layers skip an adapter there", module.path)
    rank = rank_of(module.path, targets)
    weights = dict(module.weights)
    if module.kind == "MultiheadAttention":
        if targets.dora:
            raise Refused("the attention of torch takes no DoRA", module.path)
        return _of_attention(weights.get("in_proj_weight"), rank)
    shape = weights["weight"] if "weight" in weights else _parametrized(module, model)
    groups = (weights.get("groups") or (1,))[0]
    if rank % groups:
        raise Refused(f"the rank {rank} does not divide into the {groups} groups of a convolution", module.path)
    if shape is None:
        return None
    more = (shape[1] if module.kind in ("Conv1D", "Embedding") else shape[0]) if targets.dora else 0
    if module.kind.startswith("Conv") and module.kind != "Conv1D":
        out, into, *kernel = shape
        return rank * into * groups * prod(kernel) + out * rank // groups + more
    return rank * (shape[0] + shape[1]) + more


def _parametrized(module: Module, model: Model) -> tuple[int, ...] | None:
    """The shape of a weight that torch computes from others, as weight normalisation has it: that of the direction."""
    inside = f"{module.path}.parametrizations.weight"
    return next((dict(one.weights).get("original1") for one in model.modules if one.path == inside), None)


def _of_attention(shape: tuple[int, ...] | None, rank: int) -> int | None:
    """The attention of torch packs three matrices; the output matrix gets an adapter as well."""
    return rank * (shape[0] + shape[1]) + rank * 2 * shape[1] if shape else None


def _bare(model: Model, targets: Targets, adapted: Mapping[str, object]) -> dict[str, int | None]:
    """Weights that are targeted by their own names."""
    found: dict[str, int | None] = {}
    for module in model.modules:
        for name, shape in module.weights:
            path = f"{module.path}.{name}"
            if name == "groups" or module.kind == "Same" or not ends(path, targets.parameters):
                continue
            if module.path in adapted or module.path.partition(".parametrizations.")[0] in adapted:
                raise Refused("a weight is targeted whose module has an adapter already", path)
            if targets.dora or targets.dropout:
                raise Refused("an adapter on a bare weight knows neither DoRA nor dropout", path)
            found[path] = _of_weight(shape, rank_of(path, targets), path)
    return found


def _of_weight(shape: tuple[int, ...] | None, rank: int, path: str) -> int | None:
    if shape is None:
        return None
    if len(shape) not in (2, 3):
        raise Refused(f"a weight of {len(shape)} dimensions takes no adapter", path)
    experts = shape[0] if len(shape) == 3 else 1
    return rank * experts * (shape[-1] + shape[-2])


def _saved(model: Model, names: Sequence[str], wrapped: Container[str]) -> dict[str, int | None]:
    """Modules that train whole: PEFT takes any path that ends in the letters of a name."""
    found: dict[str, int | None] = {}
    for module in model.modules:
        inside = any(module.path.startswith(f"{path}.") for path in found)
        if module.path and not inside and any(module.path.endswith(name) for name in names):
            if module.path.rpartition(".")[0] in wrapped:
                raise Refused(
                    "a module is trained whole whose parent has an adapter on a weight of its own", module.path
                )
            found[module.path] = size_of(model, module.path)
    return found


def size_of(model: Model, path: str) -> int | None:
    """All parameters of a module and of those inside it; a bias that two of them share counts once."""
    weights = [
        (name, shape)
        for module in model.modules
        if module.path == path or module.path.startswith(f"{path}.")
        for name, shape in module.weights
        if name != "groups"
    ]
    known = [prod(shape) for name, shape in weights if shape and (name, shape) not in _shared(weights)]
    return None if any(shape is None for _, shape in weights) else sum(known)


def _shared(weights: Sequence[tuple[str, tuple[int, ...] | None]]) -> set[tuple[str, tuple[int, ...]]]:
    """Tied biases whose first owner is among the weights."""
    return {("tied_bias", shape) for name, shape in weights if name == "bias" and shape}


def _rows(model: Model, targets: Targets, adapted: Mapping[str, object]) -> dict[str, int | None]:
    """Single rows of embeddings that train."""
    if targets.tokens is None:
        return {}
    by_name = (
        targets.tokens if isinstance(targets.tokens, Mapping) else {model.embedding or "embed_tokens": targets.tokens}
    )
    if any(name in targets.saved for name in by_name):
        raise Refused("the embedding is trained whole and by rows at once")
    found: dict[str, int | None] = {}
    for name, numbers in by_name.items():
        hits = [module for module in model.modules if module.path.endswith(name)]
        if not hits:
            raise Refused(f"no module is called {name}")
        for module in hits:
            if module.path in adapted:
                raise Refused("the embedding has an adapter and is trained by rows at once", module.path)
            if module.kind not in ("Embedding", "Linear"):
                raise Refused(f"a module of type {module.kind} has no rows to train", module.path)
            shape = dict(module.weights).get("weight")
            found[module.path] = len(numbers) * shape[1] if shape else None
    return found


def _biases(model: Model, targets: Targets, adapted: Container[str], saved: Mapping[str, object]) -> int | None:
    """Biases of the model that train beside the adapters, but for those in modules that train whole anyway."""
    if targets.bias == "none":
        return 0
    total = 0
    whole = tuple(f"{path}." for path in saved)
    for module in model.modules:
        weights = dict(module.weights)
        own = module.path in adapted
        if (targets.bias == "all" and not f"{module.path}.".startswith(whole)) or own:
            shape = weights.get("bias", weights.get("tied_bias", ()) if own and targets.bias != "all" else ())
            if shape is None:
                return None
            total += prod(shape) if shape else 0
    return total
