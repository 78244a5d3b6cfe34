"""Which modules PEFT means by the targets of a LoraConfig.

Follows `check_target_module_exists` of peft 0.21.2 and what it does to the names of experts, to which a differential
test holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from loralint.knowledge.pattern import whole
from loralint.knowledge.structure import Module

LINEAR = ("Linear", "Conv1D")
SUPPORTED = (*LINEAR, "Embedding", "Conv1d", "Conv2d", "Conv3d", "MultiheadAttention")
_WORD = re.compile(r"[\w.-]*")


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
    dropout: float = 0.0
    classifies: bool = False


def holds_experts(path: str, kind: str) -> bool:
    """Whether a module holds the weights of all experts of a layer, by its path or the name of its class."""
    return "expert" in path or "Expert" in kind


class Refused(Exception):  # noqa: N818 - an answer: PEFT stops, and why
    """Why PEFT raises. `path` is the module at fault, if one is."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason, self.path = reason, path


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
