"""Entries beside the targets that mean nothing in the model: what is excluded, saved, ranked, counted by layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from loralint.checks.hit import Hit
from loralint.facts.reach import names_of
from loralint.facts.scope import Scope
from loralint.knowledge.pattern import Unmatchable, whole
from loralint.knowledge.reach import Names, ends, trial
from loralint.model import Unknown, Value

_CLOSE = 0.8  # of difflib: a slip of a name
_MOST = 100  # entries of one field that are tried; a plain name that ends a path is not counted


class Way(NamedTuple):
    """How entries are compared: the test that an entry makes, and the paths that it is tried on."""

    test: Callable[[str], Callable[[str], bool]]
    paths: Callable[[Scope, Names], Iterable[str]]


def unmatched(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """One hit for each entry of a field that nothing in such models is meant by, in any class of theirs.

    with: field; among: `layers` (ends of their paths, or one expression for them), `targeted` (expressions for ends of
    paths of layers that the targets mean), `weights`, `modules` (letters that the path of any module ends in) or
    `lists` (names of lists of layers); `like`: names of which an entry has to be one, or a slip, to be told; `slips`:
    to tell only slips of the model's own names. Data: item, `every`, and `names`, those that the model has.
    """
    del at
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    entries = _entries(value)
    found = names_of(scope) if entries else None
    if not isinstance(found, Names):
        return found or []
    among = args["among"]  # a text in the place of a list of names of lists, or of weights, is one of them
    way = WAYS["expression" if isinstance(value.value, str) and among not in ("lists", "weights") else among]
    try:
        paths = list(way.paths(scope, found))
        if not paths:  # which is told of the targets
            return []
        tried = [entry for entry in entries if not any(ends(path, str(entry.value)) for path in paths)]
        if len(tried) > _MOST:
            return Unknown(f"{value.key} has more than {_MOST} entries to be tried")
        wrong = [entry for entry in tried if not any(map(way.test(str(entry.value)), paths))]
    except Unmatchable as reason:
        return Unknown(str(reason))
    own = _own([path for path in paths if "*" not in path] if among == "modules" else paths)
    told = [entry for entry in wrong if _is_told(str(entry.value), own, args)]
    every = bool(entries) and len(wrong) == len(entries)
    return [_hit(entry, value, own, every=every) for entry in told]


def _entries(value: Value) -> list[Value]:
    """What an entry is of a text, a list or a map; numbers mean no name."""
    if isinstance(value.value, str):
        return [] if value.value.lower() == "all-linear" else [value]
    if isinstance(value.value, Mapping):
        return [value._replace(value=name, items=()) for name in value.value]
    return [item for item in _items(value) if isinstance(item.value, str)]


def _items(value: Value) -> tuple[Value, ...]:
    """The items of a list; one that stands for a list has no items of its own."""
    listed = value.value if isinstance(value.value, list) else []
    return value.items or tuple(value._replace(value=one) for one in listed)


def _own(paths: Iterable[str]) -> list[str]:
    """The last names of paths."""
    lasts = dict.fromkeys(path.rpartition(".")[2] for path in paths)
    return [last for last in lasts if not last.isdigit() and last != "*"]


def _is_told(entry: str, own: list[str], args: Mapping[str, Any]) -> bool:
    last = entry.rpartition(".")[2]
    if "like" in args:
        return last in args["like"] or bool(_close(last, args["like"]))
    return bool(_close(last, own)) or not args.get("slips")


def _close(name: str, names: Iterable[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(name, list(names), 1, _CLOSE)


def _hit(entry: Value, value: Value, own: list[str], *, every: bool) -> Hit:
    close = _close(str(entry.value).rpartition(".")[2], own)
    names = ", ".join(own[:12])
    place = entry._replace(key=entry.key.split("[")[0] or value.key, field=value.field)
    return Hit(place, {"item": entry.value, "every": every, "names": names}, close[0] if close else names)


def _targeted(scope: Scope, found: Names) -> Iterable[str]:
    """The layers that the targets mean; all of them where that is not known."""
    targets = scope.get("adapter.targets").value
    if isinstance(targets, list):
        return [path for path in found.layers if any(ends(path, str(name)) for name in targets)]
    if isinstance(targets, str) and targets.lower() != "all-linear":
        return list(filter(trial(targets), found.layers))
    return found.layers


def _with_weights(_: Scope, found: Names) -> Iterable[str]:
    return (*found.weights, *(f"{path}.{name}" for path in found.layers for name in ("weight", "bias")))


def _numbered(_: Scope, found: Names) -> Iterable[str]:
    return [path.replace("*", "0") for path in found.layers if "*" in path]


def _in_letters(name: str) -> Callable[[str], bool]:
    return lambda path: path.endswith(name) or ends(path, name)


WAYS = {
    "expression": Way(trial, lambda _, found: found.layers),
    "layers": Way(lambda name: lambda path: ends(path, name), lambda _, found: (*found.layers, *found.others)),
    "targeted": Way(lambda name: trial(rf"(.*\.)?({name})"), _targeted),
    "weights": Way(lambda name: lambda path: ends(path, name), _with_weights),
    "modules": Way(_in_letters, lambda _, found: (*found.layers, *found.others)),
    "lists": Way(lambda name: whole(rf".*\.{name}\.\d+\..*"), _numbered),
}


def layers_in_model(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: nothing. One hit for each number of a layer that the model does not have. Data: item, `every`, last."""
    del args, at
    value, layers = scope.get("adapter.layers"), scope.get("model.layers")
    for one in (value.value, layers.value):
        if isinstance(one, Unknown):
            return one
    numbers = [item for item in _items(value) if isinstance(item.value, int)]
    count = layers.value
    if not isinstance(count, int):
        return []
    wrong = [item for item in numbers if not 0 <= int(str(item.value)) < count]
    data = {"every": len(wrong) == len(numbers), "last": count - 1}
    return [Hit(item._replace(field=value.field), {**data, "item": item.value}) for item in wrong]
