"""The JSON Schema of the settings file, from the same table of keys that reads it."""

from __future__ import annotations

from typing import Any

from loralint.engine.settings_file import EXCEPTION_KEYS, GATE_KEYS, KEYS
from loralint.model import TIERS

_TEXTS = {"type": "array", "items": {"type": "string"}}
_TIER = {"enum": list(TIERS)}
_TYPES: dict[type, dict[str, Any]] = {
    str: {"type": "string"}, bool: {"type": "boolean"}, int: {"type": "integer"}, list: _TEXTS
}  # fmt: skip
_ABOUT = {
    "select": "only these rules: codes, prefixes, names, topics, tiers or ALL",
    "ignore": "all rules but these",
    "exclude": "files and folders not to lint, as in .gitignore",
    "preview": "include rules that are still proving themselves",
    "gpu": "the card that the runs will meet",
    "target": "versions to judge by, PACKAGE=VERSION",
    "model-config": "the base model's config.json or its folder, PATH or BASE=PATH",
    "model-cache": "folder of a Hugging Face cache, or auto",
    "fail-on": "lowest tier that makes check exit with 1",
    "min-score": "score below which a run makes check and gate exit with 1",
    "tiers": "rules, in the words of select = the tier of their findings",
    "baseline": "baseline file",
    "per-file-ignores": "pattern as in .gitignore = rules to lift below tier S",
    "exceptions": "dated exceptions of any tier",
    "gate": "how the gate decides",
    "rules": "files with rules of the project's own",
    "golden": "files with golden entries of the project's own",
}


def settings_schema() -> dict[str, Any]:
    """Of loralint.toml, and of the table [tool.loralint] of pyproject.toml."""
    properties = {key: {"description": _ABOUT[key], **_TYPES.get(kind, {})} for key, kind in KEYS.items()}
    properties["fail-on"] |= _TIER
    properties["min-score"] |= {"minimum": 0, "maximum": 100}
    properties["tiers"] |= {"type": "object", "additionalProperties": _TIER}
    properties["per-file-ignores"] |= {"type": "object", "additionalProperties": _TEXTS}
    properties["gate"] |= _closed({key: _TYPES[kind] for key, kind in GATE_KEYS.items()})
    exception = _closed({key: {} for key in sorted(EXCEPTION_KEYS)}) | {"required": sorted(EXCEPTION_KEYS)}
    properties["exceptions"] = {"description": _ABOUT["exceptions"], "type": "array", "items": exception}
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": "loralint settings", **_closed(properties)}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}
