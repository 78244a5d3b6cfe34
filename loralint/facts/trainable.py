"""How many parameters train: by PEFT's rules on every module of the base model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.facts.architecture import built
from loralint.facts.need import Missing, known, optional, positive
from loralint.facts.reach import type_of
from loralint.facts.scope import Scope, derived
from loralint.knowledge import peft
from loralint.knowledge.catalogue import Architecture, of_version
from loralint.knowledge.pattern import Unmatchable
from loralint.knowledge.targets import LINEAR, SUPPORTED, Refused
from loralint.knowledge.usual import usual_targets
from loralint.model import Value

_NUMBER = re.compile(r"\.\d+(?=\.|$)")
_MOST_TRIES = 2_000_000  # entries of all settings times modules: a second or so


def total(scope: Scope) -> Value:
    """Trainable parameters of the LoRA run, as PEFT prints them; None without LoRA.

    Unknown where the model's modules are not, and where they depend on a version that is not known.
    """
    counts = {made.total for made in _made(scope)}
    if len(counts) != 1:
        raise Missing("how many parameters train differs between Transformers 4 and 5")
    count = counts.pop()
    if count is None:
        raise Missing("the shapes of some adapted layers are not known")
    return derived(count)


def by_module(scope: Scope) -> Value:
    """Trainable parameters by the last name of the module, the most first."""
    known(scope, "lora.trainable")
    sums: dict[str, int] = {}
    made = _made(scope)[0]
    for part in (made.modules, made.parameters, made.saved, made.rows):
        for path, count in part.items():
            name = path.rpartition(".")[2]
            sums[name] = sums.get(name, 0) + (count or 0)
    if made.biases:
        sums["bias"] = made.biases
    return derived(dict(sorted(sums.items(), key=lambda pair: -pair[1])))


def coverage(scope: Scope) -> Value:
    """[(path, layers, adapted, trained whole, parameters that train)] of each kind of layer or bare matrix.

    A path has `*` for the number of a layer; parameters are None where a shape is not known. In the order of the model.
    """
    _refuse_uncounted(scope)
    made = _adapted(scope, "5")
    rows: dict[str, tuple[int, int, int, int | None]] = {}
    for path in _matrices(built(scope), made):
        name = _NUMBER.sub(".*", path)
        layers, adapted, whole, trained = rows.get(name, (0, 0, 0, 0))
        parts = [part[path] for part in (made.modules, made.parameters, made.saved, made.rows) if path in part]
        more = None if trained is None or None in parts else trained + sum(filter(None, parts))
        touched = path in made.modules or path in made.parameters
        rows[name] = (layers + 1, adapted + touched, whole + (path in made.saved), more)
    if made.biases != 0:
        rows["biases"] = (1, 0, 1, made.biases)
    return derived([(name, *row) for name, row in rows.items()])


def _matrices(model: Architecture, made: peft.Adapted) -> Iterator[str]:
    """Layers that take an adapter, and matrices that are bare weights of other modules, as those of packed experts."""
    for one in model.modules:
        if one.kind in SUPPORTED or one.path in made.saved:
            yield one.path
        else:
            bare = ((f"{one.path}.{name}", shape) for name, shape in one.weights)
            yield from (path for path, shape in bare if path in made.parameters or len(shape or ()) > 1)


def narrowest(scope: Scope) -> Value:
    """The smallest side of an adapted matrix, beyond which more rank adds nothing that it could hold."""
    sides = [min(side) for made in _made(scope) for side in _sides(scope, made)]
    if not sides:
        raise Missing("the shapes of the adapted layers are not known")
    return derived(min(sides))


def _sides(scope: Scope, made: peft.Adapted) -> list[tuple[int, ...]]:
    modules = {one.path: dict(one.weights).get("weight") for one in built(scope).modules if one.kind in LINEAR}
    return [shape for path in made.modules if (shape := modules.get(path))]


def _made(scope: Scope) -> list[peft.Adapted]:
    """What PEFT makes of the model as Transformers builds it, by either generation where none is in force."""
    _refuse_uncounted(scope)
    version = scope.version("transformers")
    if version.startswith("4") and known(scope, "targets.packed") and not of_version(type_of(scope), version):
        raise Missing("how Transformers 4 builds the experts of such models is not in the catalogue")
    return [_adapted(scope, one) for one in ((version,) if version else ("5", "4"))]


def _refuse_uncounted(scope: Scope) -> None:
    """Raise Missing for what is not counted here."""
    if known(scope, "lora.on") is not True:
        raise Missing("no LoRA trains")
    if known(scope, "model.vision") and (known(scope, "model.freeze_vision") or known(scope, "kernel.unsloth")):
        raise Missing("the trainer itself leaves parts of the model out")
    if known(scope, "adapter.lora_bias") is True:
        raise Missing("biases of the adapter itself are not counted here")


def _adapted(scope: Scope, version: str) -> peft.Adapted:
    model = built(scope, version)
    wanted = _targets(scope, model.model_type)
    entries = sum(len(one) for one in wanted if isinstance(one, (tuple, dict)))
    if entries * len(model.modules) > _MOST_TRIES:
        raise Missing("the settings have more entries than are tried on so many modules")
    try:
        return peft.adapt(
            peft.Model(model.modules, model.model_type, model.head, model.embedding, model.tied, model.experts), wanted
        )
    except (Refused, Unmatchable) as reason:
        raise Missing(f"PEFT would not build this adapter: {reason}") from None


def _targets(scope: Scope, model_type: str) -> peft.Targets:
    spoken = known(scope, "adapter.targets")
    layers = known(scope, "adapter.layers")
    return peft.Targets(
        modules=_listed(spoken) if spoken is not None else usual_targets(model_type),
        rank=int(positive(scope, "adapter.rank", "the config gives no rank")),
        exclude=_listed(known(scope, "adapter.exclude")),
        layers=tuple(n for n in layers if isinstance(n, int)) if isinstance(layers, (list, tuple)) else None,
        layers_pattern=_listed(known(scope, "adapter.layers_pattern")),
        rank_pattern=_ranks(known(scope, "adapter.rank_pattern")),
        parameters=_names(known(scope, "adapter.target_parameters")),
        saved=_names(known(scope, "adapter.modules_to_save")),
        tokens=_tokens(known(scope, "adapter.trainable_tokens")),
        bias=str(known(scope, "adapter.bias") or "none"),
        dora=known(scope, "adapter.dora") is True,
        dropout=optional(scope, "adapter.dropout", 0.0),
        classifies=known(scope, "adapter.task_type") == "SEQ_CLS",
    )


def _listed(value: object) -> str | tuple[str, ...] | None:
    return value if isinstance(value, str) else _names(value) or None


def _names(value: object) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, (list, tuple)) else ()


def _ranks(value: object) -> dict[str, int]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {str(name): rank for name, rank in pairs if isinstance(rank, int) and not isinstance(rank, bool)}


def _tokens(value: object) -> tuple[int, ...] | dict[str, tuple[int, ...]] | None:
    if isinstance(value, dict):
        return {str(name): numbers for name, listed in value.items() if (numbers := _numbers(listed))}
    return _numbers(value) or None


def _numbers(value: object) -> tuple[int, ...]:
    return tuple(n for n in value if isinstance(n, int)) if isinstance(value, (list, tuple)) else ()
