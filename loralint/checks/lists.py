"""Names in lists: bad ones and shared ones."""

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
    `together`, to give one hit at the whole field, and only when every item is bad; `within`, to say nothing then
    where the names of this fact lack the last part of an item. Data: item, and `every`, whether all are bad.
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
        there = every and _all_within(bad, scope.get(args["within"]).value if "within" in args else None)
        return [Hit(value, {"count": len(bad), "every": True})] if there else []
    return [Hit(_placed(item, value), {"item": item.value, "every": every}, _meant(item.value, args)) for item in bad]


def _all_within(items: list[Value], names: object) -> bool:
    return not isinstance(names, list) or all(str(item.value).rpartition(".")[2] in names for item in items)


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
