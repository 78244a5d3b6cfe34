"""Names in lists: bad ones, shared ones, and those that the model does not have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown, Value


def items(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """One hit for each bad item of a list of names. Text that stands alone is no list and has none.

    with: field; what makes an item bad: `matches` (a pattern found in it, in any case), `values` (it is one of these),
    `others_than` (it is none of these) or `near` (its last part is a slip of one of these, which is suggested); `key`,
    to look only at items that stand under this key; `alone`, to take a value without items for the only one;
    `together`, to give one hit at the whole field, and only when every item is bad. Data: item, and `every`, whether
    all are bad.
    """
    del at
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    if args.get("alone") and not value.items and value.span:
        value = value._replace(items=tuple(value._replace(value=name) for name in _several(value.value)))
    given = [item for item in value.items if item.key.split("[")[0] == args.get("key", item.key.split("[")[0])]
    bad = [item for item in given if _is_bad(item.value, args)]
    every = bool(bad) and len(bad) == len(value.items)
    if args.get("together"):
        return [Hit(value, {"count": len(bad), "every": True})] if every else []
    return [Hit(_placed(item, value), {"item": item.value, "every": every}, _meant(item.value, args)) for item in bad]


def _several(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _meant(name: object, args: Mapping[str, Any]) -> str | None:
    """The name that this one is a slip of, where slips are looked for; only the last part of a path counts."""
    last = str(name).rpartition(".")[2]
    if last in args.get("near", (last,)):
        return None
    import difflib

    close = difflib.get_close_matches(last, args["near"], 1, 0.84)
    return close[0] if close else None


def _is_bad(name: object, args: Mapping[str, Any]) -> bool:
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        return False
    word = str(name)
    if "near" in args:
        return _meant(word, args) is not None
    if "matches" in args:
        return re.search(args["matches"], word, re.IGNORECASE) is not None
    return word in args["values"] if "values" in args else word not in args["others_than"]


def _placed(item: Value, whole: Value) -> Value:
    """The place of the item under the key of the list, which is what a user looks for."""
    return item._replace(key=item.key.split("[")[0] or whole.key, field=whole.field)


def entries(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: field, below. One hit for the first entry of a map whose number is below that."""
    del at
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    for name, entry in value.value.items() if isinstance(value.value, dict) else ():
        if isinstance(entry, (int, float)) and not isinstance(entry, bool) and entry < args["below"]:
            return [Hit(value, {"item": name, "entry": entry})]
    return []


def overlap(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: left, right. One hit for each shared name, at its place in `left`."""
    del at
    left, right = scope.get(args["left"]), scope.get(args["right"])
    for value in (left.value, right.value):
        if isinstance(value, Unknown):
            return value
    if right.value is None:
        return []
    names = right.value if isinstance(right.value, list) else [right.value]
    shared = [item for item in left.items if item.value in names and not isinstance(item.value, Unknown)]
    if not shared:
        hidden = (one for one in (*(item.value for item in left.items), *names) if isinstance(one, Unknown))
        return next(hidden, [])
    related = ((right, "names it as well"),)
    places = [item._replace(key=left.key, field=left.field) for item in shared]
    return [Hit(place, {"item": place.value}, related=related) for place in places]


# Outside the blocks, or added by a task: a target may name them whatever the family.
_ELSEWHERE = frozenset(
    {"lm_head", "embed_tokens", "embed_out", "embed_in", "word_embeddings", "wte", "wpe", "shared", "score"}
    | {"classifier", "output_layer", "embedding", "embeddings", "output", "pooler", "head"}
)
_JUDGED = ("all", "weight", "bias")  # no module anywhere: another rule's business
_PLAIN = re.compile(r"[A-Za-z_][\w.]*")


def targets_in_model(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: nothing. One hit for all plain names in the list that are the end of no layer's path in such models.

    Where only the names of a family's layers are known, a name counts by its last part. Regular expressions, numbers
    and all-linear are not judged here. Data: names, modules; `all`, whether every name is wrong; `exact`, whether the
    paths are known.
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
    if not wrong:
        return []
    every = len(wrong) == len(targets.items)
    data = {"modules": modules.value, "names": [item.value for item in wrong], "all": every, "exact": bool(paths)}
    place = wrong[0]._replace(key=targets.key, field="adapter.targets")
    return [Hit(place, data, _close(str(wrong[0].value), modules.value))]


def _paths(scope: Scope, names: list[object], modules: list[str]) -> list[str]:
    """Paths of the model's layers, asked for only where a name says more than the name of a layer."""
    if all(name in modules for name in names):
        return []
    known = scope.get("model.paths").value
    return known if isinstance(known, list) else []


def _wrong(name: object, modules: list[str], paths: list[str]) -> bool:
    """Whether no layer is meant by a name."""
    if _foreign(name, modules):
        return not any(_ends(path, str(name)) for path in paths)
    return bool(paths) and isinstance(name, str) and "." in name and _is_judged(name) and not _meant_by(name, paths)


def _meant_by(name: str, paths: list[str]) -> bool:
    return name.rpartition(".")[2] in _ELSEWHERE or any(_ends(path, name) for path in paths)


def _ends(path: str, name: str) -> bool:
    """Whether a path, with `*` for numbers, ends in a name that may hold numbers."""
    words, wanted = path.split("."), name.split(".")
    tail = words[-len(wanted) :]
    return len(tail) == len(wanted) and all(
        a == b or (a == "*" and b.isdigit()) for a, b in zip(tail, wanted, strict=True)
    )


def _is_judged(name: object) -> bool:
    """Whether a name is one that a layer could have; Megatron-Core's are those its trainers convert any model to."""
    if not isinstance(name, str) or not _PLAIN.fullmatch(name):
        return False
    last = name.rpartition(".")[2]
    return not (last.startswith("linear_") or last.isdigit() or last in _JUDGED)


def _foreign(name: object, modules: list[str]) -> bool:
    if not _is_judged(name):
        return False
    last = str(name).rpartition(".")[2]
    return last not in modules and last not in _ELSEWHERE


def _close(name: str, modules: list[str]) -> str:
    """The likeliest module of this family, else all of them."""
    import difflib

    close = difflib.get_close_matches(name, modules, 1, 0.75)
    return close[0] if close else ", ".join(modules)
