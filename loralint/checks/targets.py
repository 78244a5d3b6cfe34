"""Targets that mean no layer of the model, or a module that takes no adapter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown, Value

if TYPE_CHECKING:
    from loralint.knowledge.reach import Names

# Outside the blocks, or added by a task: a target may name them whatever the family.
_ELSEWHERE = frozenset(
    {"lm_head", "embed_tokens", "embed_out", "embed_in", "word_embeddings", "wte", "wpe", "shared", "score"}
    | {"classifier", "output_layer", "embedding", "embeddings", "output", "pooler", "head"}
)
_JUDGED = ("all", "weight", "bias")  # no module anywhere: another rule's business
_STOPS = "training stops when the adapter is built"
_MISSES = "the adapter misses layers, or training stops when it is built"
_PLAIN = r"[A-Za-z_][\w.]*"


def targets_in_model(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: nothing. One hit for all plain names in the list that are the end of no layer's path in such models.

    Those among them that nothing misses are a hit of their own: names of other families' layers, where every layer that
    does such work here is named as well.

    Where only the names of a family's layers are known, a name counts by its last part. Regular expressions, numbers,
    all-linear and modules that take no adapter are not judged here. Data: names, modules; `all`, whether every name is
    wrong; `spare`, whether nothing misses them; `exact`, whether the paths are known; `family`, the modules as an aside
    unless they are what is suggested; `outcome`, what happens to the run.
    """
    del args, at
    targets, modules = scope.get("adapter.targets"), scope.get("model.modules")
    for value in (targets.value, modules.value):
        if isinstance(value, Unknown):
            return value
    if not isinstance(targets.value, list) or not isinstance(modules.value, list):
        return []
    paths = _paths(scope, targets.value, modules.value)
    wrong = [item for item in targets.items if _wrong(item.value, modules.value, paths)]
    if wrong and paths:  # what takes no adapter is another check's
        found = _names(scope)
        wrong = [item for item in wrong if isinstance(found, Unknown) or not _modules(found, str(item.value))]
    if not wrong:
        return []
    spare = _spare(wrong, targets.items, paths or modules.value)
    said = {"modules": modules.value, "all": len(wrong) == len(targets.items), "exact": bool(paths)}
    nothing_left = said["all"] and paths and scope.get("adapter.target_parameters").value is None
    said["outcome"] = _STOPS if nothing_left else _MISSES
    several = ([item for item in wrong if item not in spare], False), (spare, True)
    return [_hit(items, {**said, "spare": nothing}, targets) for items, nothing in several if items]


def _hit(items: list[Value], data: dict[str, Any], targets: Value) -> Hit:
    close, all_of_them = ", ".join(_instead(items, data["modules"])), ", ".join(data["modules"])
    aside = "" if close == all_of_them else f" (the family's linear layers are {all_of_them})"
    place = items[0]._replace(key=targets.key, field="adapter.targets")
    return Hit(place, {**data, "names": [item.value for item in items], "family": aside}, close)


def _spare(wrong: list[Value], items: tuple[Value, ...], layers: list[str]) -> list[Value]:
    """Those of the wrong names whose like in these models, by what it does, is all named by the other items."""
    from loralint.facts.reach import tower_of
    from loralint.knowledge.roles import left_out

    right = [str(item.value) for item in items if item not in wrong]
    blocks = [path for path in layers if ".*." in path and not tower_of(path)] or layers
    unmet = {path.rpartition(".")[2] for path in blocks if not any(_ends_any((path,), name) for name in right)}
    return [item for item in wrong if right and left_out(str(item.value).rpartition(".")[2], unmet) == []]


def _paths(scope: Scope, names: list[object], modules: list[str]) -> list[str]:
    """Paths of the model's layers, asked for only where a name says more than the name of a layer."""
    if all(name in modules for name in names):
        return []
    known = scope.get("model.paths").value
    return known if isinstance(known, list) else []


def _wrong(name: object, modules: list[str], paths: list[str]) -> bool:
    """Whether no layer is meant by a name."""
    if _foreign(name, modules):
        return not _ends_any(paths, str(name))
    return bool(paths) and isinstance(name, str) and "." in name and _is_judged(name) and not _meant_by(name, paths)


def _meant_by(name: str, paths: list[str]) -> bool:
    return name.rpartition(".")[2] in _ELSEWHERE or _ends_any(paths, name)


def _ends_any(paths: Iterable[str], name: str) -> bool:
    from loralint.knowledge.reach import ends

    return any(ends(path, name) for path in paths)


def _names(scope: Scope) -> Names | Unknown:
    from loralint.facts.reach import names_of  # which few runs need

    return names_of(scope)


def _is_judged(name: object) -> bool:
    """Whether a name is one that a layer could have; Megatron-Core's are those its trainers convert any model to."""
    if not isinstance(name, str) or not re.fullmatch(_PLAIN, name):
        return False
    last = name.rpartition(".")[2]
    return not (last.startswith("linear_") or last.isdigit() or last in _JUDGED)


def _foreign(name: object, modules: list[str]) -> bool:
    if not _is_judged(name):
        return False
    last = str(name).rpartition(".")[2]
    return last not in modules and last not in _ELSEWHERE


def _instead(items: list[Value], modules: list[str]) -> list[str]:
    """The modules of this family that do what the names stand for, or that they are slips of; all where none is."""
    import difflib

    from loralint.knowledge.roles import counterparts

    found: dict[str, None] = {}
    for item in items:
        last = str(item.value).rpartition(".")[2]
        alike = counterparts(last, modules)
        found |= dict.fromkeys(difflib.get_close_matches(last, modules, 1, 0.75) if alike is None else alike)
    return list(found) or modules


def unadaptable(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: nothing. One hit for each name in the list of targets that means modules of the model, none of which takes
    an adapter. Data: item, class (of such a module), `block`, whether each layer has one.
    """
    del args, at
    targets, modules = scope.get("adapter.targets"), scope.get("model.modules")
    for value in (targets.value, modules.value):
        if isinstance(value, Unknown):
            return value
    known = modules.value if isinstance(modules.value, list) else []
    asked = [item for item in targets.items if _foreign(item.value, known)]
    found = _names(scope) if asked else None
    if found is None or isinstance(found, Unknown):
        return found or []
    return [_taking_none(item, targets, hits) for item in asked if (hits := _modules(found, str(item.value)))]


def _modules(found: Names, name: str) -> dict[str, str]:
    """The modules that a name means, where none of them takes an adapter."""
    if _ends_any(found.layers, name):
        return {}
    return {path: kind for path, kind in found.others.items() if _ends_any((path,), name)}


def _taking_none(item: Value, targets: Value, hits: Mapping[str, str]) -> Hit:
    place = item._replace(key=item.key.split("[")[0] or targets.key, field="adapter.targets")
    block = any(".*." in path for path in hits)
    return Hit(place, {"item": item.value, "class": next(iter(hits.values())), "block": block})
