"""What OmegaConf and Hydra files share: `defaults` that they build on, and `???` that the command line fills."""

from __future__ import annotations

from loralint.frameworks.table import Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_MISSING = "???"


def inherits(document: Document) -> str:
    """Give the reason why a key may stand elsewhere: the file has `defaults`."""
    defaults = document.root.get("defaults") if document.root is not None else None
    if defaults is None or defaults.tag == "null" or [item.raw for item in defaults.items] == ["_self_"]:
        return ""
    return "it may come from the inherited `defaults`"


def filled_later(values: Values) -> dict[str, tuple[Value, ...]]:
    """Fields whose value or one of whose items is `???`, as unknown."""
    found = {}
    for field, several in values.items():
        if any(one.text == _MISSING or _in_list(one.value) for one in several):
            found[field] = tuple(_unknown(one) for one in several)
    return found


def _in_list(value: object) -> bool:
    return isinstance(value, list) and _MISSING in value


def _unknown(one: Value) -> Value:
    if one.text != _MISSING and not _in_list(one.value):
        return one
    return one._replace(value=Unknown("`???` is filled in on the command line"), items=())
