"""A golden entry of a project's own as the rule that judges by it, and as `loralint golden` lists it."""

from __future__ import annotations

from typing import Any

from loralint.authoring.conditions import conjunction, normal
from loralint.authoring.own_models import OwnEntry


def rule_of(entry: OwnEntry, topic: str) -> dict[str, Any]:
    """The compiled rule. A parameter is judged as any rule judges a field, a key by `loralint.engine.own`."""
    uses, args, when = _judged(entry)
    return {
        "id": entry.id,
        "name": entry.name,
        "topic": topic,
        "preview": False,
        "tiers": [[None, entry.tier]],
        "frameworks": None,
        "versions": [],
        "when": when,
        "each": None,
        "at": [entry.parameter] if entry.set and entry.parameter else [],
        "uses": uses,
        "with": args,
        "message": f"{entry.then}: {{key}} is {{value}}, fine is {_fine(entry)}",
        "help": f"write {{key}}: {_fine(entry) if entry.recommended is None else _word(entry.recommended)}",
        "fix": None,
    }


def hot_entry(entry: OwnEntry) -> dict[str, Any]:
    """The entry as the golden list shows it; `own` keeps our rules from judging by it."""
    low_high = None if entry.set else list(entry.around())
    sides = zip(("below", "above"), low_high or (), strict=False)
    return {
        "id": entry.id,
        "name": entry.name,
        "recommended": entry.recommended,
        "range": low_high,
        "set": entry.set,
        "tolerance": None if entry.tolerance is None else str(entry.tolerance),
        "evidence": "house",
        "when": entry.when and normal(entry.when),
        "bounds": [{side: limit, "tier": entry.tier, "then": entry.then} for side, limit in sides],
        "own": True,
    }


def cold_parameter(entry: OwnEntry) -> dict[str, Any]:
    """What people read of a parameter that our list does not have."""
    return {"title": entry.name.replace("-", " "), "unit": "", "why": entry.why, "entries": {}}


def _judged(entry: OwnEntry) -> tuple[str, dict[str, Any], Any]:
    limits = None if entry.set else list(entry.around())
    if entry.key is not None:
        asked = {"files": entry.files, "key": entry.key, "range": limits, "set": entry.set}
        return "observation", {"kind": f"own:{entry.id}", **asked}, None
    when: list[list[Any]] = [normal(entry.when)] if entry.when else []
    suggest: dict[str, Any] = {} if entry.recommended is None else {"suggest": entry.recommended}
    if limits:
        args = {"field": entry.parameter, "min": limits[0], "max": limits[1], **suggest}
        return "range", args, conjunction(when) if when else None
    outside: list[list[Any]] = [["absent", entry.parameter, False], ["not_in", entry.parameter, entry.set]]
    return "condition", suggest, conjunction([*when, *outside])


def _fine(entry: OwnEntry) -> str:
    if entry.set:
        return " or ".join(_word(one) for one in entry.set)
    low, high = entry.around()
    return f"{low:g} to {high:g}"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("{", "(").replace("}", ")")
