"""Names of a list that are none of the kind that belongs there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown, Value


def items(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """One hit for each bad item of a list of names. Text that stands alone is no list and has none.

    with: field; what makes an item bad: `matches` (a pattern found in it, in any case), `values` (it is one of these)
    or `others_than` (it is none of these); `key`, to look only at items that stand under this key; `together`, to
    give one hit at the whole field, and only when every item is bad. Data: item, and `every`, whether all are bad.
    """
    del at
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    given = [item for item in value.items if item.key.split("[")[0] == args.get("key", item.key.split("[")[0])]
    bad = [item for item in given if _is_bad(item.value, args)]
    every = bool(bad) and len(bad) == len(value.items)
    if args.get("together"):
        return [Hit(value, {"count": len(bad), "every": True})] if every else []
    return [Hit(_placed(item, value), {"item": item.value, "every": every}) for item in bad]


def _is_bad(name: object, args: Mapping[str, Any]) -> bool:
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        return False
    word = str(name)
    if "matches" in args:
        return re.search(args["matches"], word, re.IGNORECASE) is not None
    return word in args["values"] if "values" in args else word not in args["others_than"]


def _placed(item: Value, whole: Value) -> Value:
    """The place of the item under the key of the list, which is what a user looks for."""
    return item._replace(key=item.key.split("[")[0] or whole.key, field=whole.field)
