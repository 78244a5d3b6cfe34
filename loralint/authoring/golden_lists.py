"""A golden list, wherever it lies, flat: for comparing two of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from loralint.authoring.load import AuthoringError, load
from loralint.knowledge.data import shipped

# What is written once per parameter is compared as an entry of this name.
PARAMETER = "(parameter)"


def flat(where: str) -> dict[tuple[str, str], Any]:
    """(parameter, id of the entry) -> its fields. where: a file, a folder of files, or "shipped".

    Files are ours (a parameter with entries), a project's own (a list of entries), or what `golden --format json`
    printed. Raises AuthoringError for anything else.
    """
    if where == "shipped":
        return _of_json(
            {name: {**told, "entries": _joined(name, told)} for name, told in shipped("golden_cold").items()}
        )
    if not os.path.exists(where):
        raise AuthoringError(f"{where}: no such file or folder (`shipped` is the list of this version)")
    paths = sorted(Path(where).rglob("*.yaml")) if os.path.isdir(where) else [Path(where)]
    found: dict[tuple[str, str], Any] = {}
    for path in paths:
        found |= _of_file(path)
    if not found:
        raise AuthoringError(f"{where}: no golden entries are here")
    return found


def _joined(name: str, cold: Any) -> list[Any]:
    return [{**entry, **cold["entries"][entry["id"]]} for entry in shipped("golden")[name]]


def _of_file(path: Path) -> dict[tuple[str, str], Any]:
    data = load(path)
    if isinstance(data, dict) and "parameter" in data and "entries" in data:
        return _of_json({data["parameter"]: data})
    if isinstance(data, dict) and data and all(isinstance(one, dict) and "entries" in one for one in data.values()):
        return _of_json(data)
    entries = data if isinstance(data, list) else [data]
    if not all(isinstance(one, dict) and "id" in one for one in entries):
        raise AuthoringError(f"{path}: neither a golden parameter nor a list of golden entries")
    return {(str(one.get("parameter") or one.get("key")), str(one["id"])): _fields(one) for one in entries}


def _of_json(data: dict[str, Any]) -> dict[tuple[str, str], Any]:
    found: dict[tuple[str, str], Any] = {}
    for name, told in data.items():
        found[name, PARAMETER] = {key: told[key] for key in ("title", "unit", "why") if told.get(key)}
        found |= {(name, str(entry["id"])): _fields(entry) for entry in told["entries"]}
    return found


def _fields(entry: dict[str, Any]) -> dict[str, Any]:
    """Without what is absent, each bound under its side, so that a change names the bound."""
    plain = {key: value for key, value in entry.items() if key not in ("id", "bounds", "when") and value is not None}
    for bound in entry.get("bounds") or ():
        side = next(key for key in bound if key not in ("tier", "then"))
        plain[f"{side} ({bound['tier']})"] = bound[side]
        plain[f"{side} ({bound['tier']}) says"] = bound["then"]
    if entry.get("when"):
        plain["when"] = _condition(entry["when"])
    return plain


def _condition(when: Any) -> Any:
    """In the normal form, in which compiled lists have it."""
    if isinstance(when, dict):
        from loralint.authoring.conditions import normal

        try:
            return _ordered(normal(when))
        except ValueError as error:
            raise AuthoringError(f"when: {error}") from None
    return _ordered(when)


def _ordered(condition: list[Any]) -> list[Any]:
    """In which order parts are written says nothing."""
    if condition[0] not in ("all", "any", "not"):
        return condition
    return [condition[0], *sorted(map(_ordered, condition[1:]), key=repr)]
