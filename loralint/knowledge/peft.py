"""Which modules PEFT adapts, and how many parameters it trains, as pure functions of the modules and the settings.

Follows `check_target_module_exists`, `inject_adapter` and `_set_trainable` of peft 0.21.2, to which a differential test
holds it. Only LoRA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

from loralint.knowledge.pattern import whole
from loralint.knowledge.structure import Module

LINEAR = ("Linear", "Conv1D")
SUPPORTED = (*LINEAR, "Embedding", "Conv1d", "Conv2d", "Conv3d", "MultiheadAttention")
_WORD = re.compile(r"[\w.-]*")
# no adapter may sit on these names in these types: peft 0.21.2 _check_lora_target_modules_mamba
_MAMBA = frozenset({"falcon_h1", "mamba", "mamba2", "falcon_mamba", "nemotron_h"})
_MAMBA_NAMES = frozenset({"out_proj", "conv1d"})


class Model(NamedTuple):
    """What matching needs to know of a model; `head` and `embedding` are paths.

    `experts`: whose names of single experts PEFT takes for the packed weights that Transformers 5 has instead.
    """

    modules: Sequence[Module]
    model_type: str = ""
    head: str | None = None
    embedding: str | None = None
    tied: bool = False
    experts: str | None = None


class Targets(NamedTuple):
    """The settings of a LoraConfig that say what trains; a text is an expression, except all-linear.

    `tokens` are numbers of rows, or such numbers by the name of an embedding. `classifies`: the task type is SEQ_CLS.
    """

    modules: str | tuple[str, ...] | None = None
    rank: int = 8
    exclude: str | tuple[str, ...] | None = None
    layers: int | tuple[int, ...] | None = None
    layers_pattern: str | tuple[str, ...] | None = None
    rank_pattern: Mapping[str, int] = {}
    parameters: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    tokens: tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = None
    bias: str = "none"
    dora: bool = False
    classifies: bool = False


class Refused(Exception):  # noqa: N818 - an answer: PEFT stops, and why
    """Why PEFT raises. `path` is the module at fault, if one is."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason, self.path = reason, path


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
    saved = _saved(model, targets.saved)
    return Adapted(adapted, bare, saved, _rows(model, targets, adapted), _biases(model, targets, adapted, saved))


def matcher(model: Model, targets: Targets) -> Callable[[str], bool]:
    """The test whether a module's path is targeted."""
    spoken = expanded(model, targets)
    excluded = _any_of(targets.exclude)
    kept = _inside(targets.saved)
    wanted = whole(spoken) if isinstance(spoken, str) else _listed(spoken, targets)
    return lambda path: not excluded(path) and not kept(path) and wanted(path)


def expanded(model: Model, targets: Targets) -> str | tuple[str, ...]:
    """The targets with all-linear as the paths that it means: every linear layer but the head."""
    spoken = targets.modules
    if spoken is None:
        return ()
    if not isinstance(spoken, str) or spoken.lower() != "all-linear":
        return spoken
    head = model.head
    if head is None and targets.classifies:
        top = {module.path for module in model.modules if "." not in module.path}
        head = next((name for name in ("score", "classifier") if name in top), None)
    return tuple(module.path for module in model.modules if module.kind in LINEAR and module.path != head)


# old name of one expert's layer -> packed weight: transformers 5.24 conversion_mapping.py, by way of peft 0.21.2
PACKED = {
    "mixtral": {"gate": "gate.weight", "w1": "gate_up_proj", "w3": "gate_up_proj", "w2": "down_proj"},
    "qwen2_moe": {
        "gate": "gate.weight", "gate_proj": "gate_up_proj", "up_proj": "gate_up_proj", "down_proj": "down_proj",
    },
}  # fmt: skip


def converted(model: Model, targets: Targets) -> Targets:
    """The settings as PEFT rewrites them for experts that are packed: names of layers become names of weights.

    The names are taken from all layers that have them, so a dense layer or a shared expert of that name is left out.
    """
    packed = PACKED.get(model.experts or "")
    if packed is None:
        return targets
    spoken = _leaves(model, targets, packed) if isinstance(targets.modules, str) else targets.modules or ()
    if isinstance(targets.modules, str) and not spoken:
        return targets
    kept, weights, seen = [], dict.fromkeys(targets.parameters), set()
    for name in spoken:
        old = next((old for old in packed if ends(name, (old,))), None)
        if old is None:
            kept.append(name)
        else:
            weights[packed[old]] = None
            seen.add(old)
    fused = {old for old, new in packed.items() if new == "gate_up_proj"}
    if seen & fused and not fused <= seen:
        missing = ", ".join(sorted(fused - seen))
        raise Refused(f"{', '.join(sorted(seen & fused))} needs {missing} beside it: both are packed into one weight")
    ranks = dict(targets.rank_pattern) | ({"gate_up_proj": targets.rank * len(fused)} if fused <= seen else {})
    return targets._replace(modules=tuple(kept), parameters=tuple(weights), rank_pattern=ranks)


def _leaves(model: Model, targets: Targets, packed: Mapping[str, str]) -> tuple[str, ...]:
    """The last names of what an expression or all-linear means, those of single experts included."""
    assert isinstance(targets.modules, str)
    if targets.modules.lower() == "all-linear":
        meant = expanded(model, targets)
        return tuple({path.rpartition(".")[2] for path in meant} | packed.keys())
    matches = matcher(model, targets)
    weights = [f"{module.path}.{name}" for module in model.modules for name, _ in module.weights if name != "groups"]
    found = {
        path.rpartition(".")[2] for path in (*(module.path for module in model.modules), *weights) if matches(path)
    }
    for old, new in packed.items():
        holders = (path.rpartition(".")[0] for path in weights if path.rpartition(".")[2] == new)
        if old not in found and any(matches(f"{holder}.{old}") for holder in holders):
            found.add(old)
    return tuple(found)


def ends(path: str, names: Iterable[str]) -> bool:
    """Whether a path is one of the names or ends in one after a dot."""
    return any(path == name or path.endswith(f".{name}") for name in names)


def _any_of(spoken: str | tuple[str, ...] | None) -> Callable[[str], bool]:
    if not spoken:
        return lambda _: False
    if isinstance(spoken, str):
        return whole(spoken)
    names = spoken
    return lambda path: ends(path, names)


def _inside(saved: Iterable[str]) -> Callable[[str], bool]:
    """Whether a path goes through a module that is trained whole; PEFT takes each name for an expression."""
    tests = [whole(rf"(.*\.)?{name}(\..*)?") if not _WORD.fullmatch(name) else _through(name) for name in saved]
    return lambda path: any(test(path) for test in tests)


def _through(name: str) -> Callable[[str], bool]:
    return lambda path: f".{name}." in f".{path}."


def _listed(names: Sequence[str], targets: Targets) -> Callable[[str], bool]:
    """Whether a list of names means a path: whole paths at any layer, ends of paths at the chosen layers only."""
    exact = frozenset(names)
    endings = tuple(f".{name}" for name in names)
    chosen = _layers(targets)

    def wanted(path: str) -> bool:
        return path in exact or (path.endswith(endings) and chosen(path))

    return wanted


_FIRST_NUMBER = re.compile(r".*?\.[^.]*\.([0-9]+)\.")


def _layers(targets: Targets) -> Callable[[str], bool]:
    """Whether a path lies in one of the chosen layers."""
    layers = targets.layers
    if layers is None or layers == ():
        return lambda _: True
    numbers = {layers} if isinstance(layers, int) else set(layers)
    patterns = (targets.layers_pattern,) if isinstance(targets.layers_pattern, str) else targets.layers_pattern
    patterns = tuple(pattern for pattern in patterns or () if pattern)

    def chosen(path: str) -> bool:
        number = _number_after(path, patterns) if patterns else _first_number(path)
        return number in numbers

    return chosen


def _first_number(path: str) -> int | None:
    found = _FIRST_NUMBER.match(path)
    return int(found[1]) if found else None


def _number_after(path: str, patterns: Iterable[str]) -> int | None:
    """The number behind the first name that a pattern matches; the first pattern that matches anywhere counts."""
    words = path.split(".")
    for pattern in patterns:
        test = whole(pattern) if not _WORD.fullmatch(pattern) else None
        for i in range(1, len(words) - 1):
            if words[i].isdigit() and _named(words[:i], pattern, test):
                return int(words[i])
    return None


def _named(words: list[str], pattern: str, test: Callable[[str], bool] | None) -> bool:
    if test is None:
        return ends(".".join(words), (pattern,))
    return any(test(".".join(words[start:])) for start in range(len(words)))


def rank_of(path: str, targets: Targets) -> int:
    """The rank at a path: of the first pattern that the path ends in, else the general one."""
    for pattern, rank in targets.rank_pattern.items():
        if ends(path, (pattern,)) if _WORD.fullmatch(pattern) else whole(rf"(.*\.)?({pattern})")(path):
            return rank
    return targets.rank


def _adapter(module: Module, model: Model, targets: Targets) -> int | None:
    """Parameters of a module's adapter."""
    if module.kind not in SUPPORTED:
        raise Refused(f"a module of type {module.kind} takes no adapter", module.path)
    if model.model_type in _MAMBA and module.path.rpartition(".")[2] in _MAMBA_NAMES:
        raise Refused("the fused kernels of Mamba layers skip an adapter there", module.path)
    rank = rank_of(module.path, targets)
    weights = dict(module.weights)
    if module.kind == "MultiheadAttention":
        return _of_attention(weights.get("in_proj_weight"), rank)
    shape = weights.get("weight")
    groups = (weights.get("groups") or (1,))[0]
    if shape is None:
        return None
    if rank % groups:
        raise Refused(f"the rank {rank} does not divide into the {groups} groups of a convolution", module.path)
    more = (shape[1] if module.kind in ("Conv1D", "Embedding") else shape[0]) if targets.dora else 0
    if module.kind.startswith("Conv") and module.kind != "Conv1D":
        out, into, *kernel = shape
        return rank * into * groups * prod(kernel) + out * rank // groups + more
    return rank * (shape[0] + shape[1]) + more


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
            if module.path in adapted:
                raise Refused("a weight is targeted whose module has an adapter already", path)
            found[path] = _of_weight(shape, rank_of(path, targets), path)
    return found


def _of_weight(shape: tuple[int, ...] | None, rank: int, path: str) -> int | None:
    if shape is None:
        return None
    if len(shape) not in (2, 3):
        raise Refused(f"a weight of {len(shape)} dimensions takes no adapter", path)
    experts = shape[0] if len(shape) == 3 else 1
    return rank * experts * (shape[-1] + shape[-2])


def _saved(model: Model, names: Sequence[str]) -> dict[str, int | None]:
    """Modules that train whole: PEFT takes any path that ends in the letters of a name."""
    found: dict[str, int | None] = {}
    for module in model.modules:
        inside = any(module.path.startswith(f"{path}.") for path in found)
        if module.path and not inside and any(module.path.endswith(name) for name in names):
            found[module.path] = size_of(model, module.path)
    return found


def size_of(model: Model, path: str) -> int | None:
    """All parameters of a module and of those inside it."""
    total = 0
    for module in model.modules:
        if module.path == path or module.path.startswith(f"{path}."):
            for name, shape in module.weights:
                if shape is None:
                    return None
                total += prod(shape) if name != "groups" else 0
    return total


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
            shape = dict(module.weights).get("weight")
            found[module.path] = len(numbers) * shape[1] if shape else None
    return found


def _biases(model: Model, targets: Targets, adapted: Mapping[str, object], saved: Mapping[str, object]) -> int | None:
    """Biases of the model that train beside the adapters, but for those in modules that train whole anyway."""
    if targets.bias == "none":
        return 0
    total = 0
    whole = tuple(f"{path}." for path in saved)
    for module in model.modules:
        if (targets.bias == "all" and not f"{module.path}.".startswith(whole)) or module.path in adapted:
            shape = dict(module.weights).get("bias", ())
            if shape is None:
                return None
            total += prod(shape) if shape else 0
    return total
