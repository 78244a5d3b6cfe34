"""JSON Schemas of the authored files, for editors and for the tests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from loralint.authoring.conditions import ORIGIN_TESTS, TYPES
from loralint.authoring.names import NAMES
from loralint.authoring.rule import VOCABULARY
from loralint.canonical.fields import FIELDS

_LITERAL = {"type": ["string", "number", "boolean"]}
_REFERENCE = {
    "type": "object",
    "properties": {"field": {"$ref": "#/$defs/Name"}},
    "required": ["field"],
    "additionalProperties": False,
}
_HIT = r"^hit\.[a-z_]+$"
_NUMBER = {"anyOf": [{"type": "number"}, _REFERENCE]}
_LITERALS = {"type": "array", "items": _LITERAL, "minItems": 1}
_SEVERAL = {"anyOf": [_LITERALS, _REFERENCE]}
_BOOLEAN = {"type": "boolean"}


def schema(model: type[BaseModel], title: str) -> dict[str, Any]:
    """The model's schema, with the condition vocabulary spelled out so that an editor completes names and operators."""
    made = _linked(model.model_json_schema(by_alias=True))
    definitions = made.pop("$defs", {}) | _vocabulary()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": title, "$defs": definitions}


def _linked(node: Any) -> Any:
    """References where `spelled_out` left its marks; an annotated definition keeps what else its field says."""
    if isinstance(node, list):
        return [_linked(item) for item in node]
    if not isinstance(node, dict):
        return node
    linked = {key: _linked(value) for key, value in node.items() if key != VOCABULARY}
    return {"$ref": f"#/$defs/{node[VOCABULARY]}"} | linked if VOCABULARY in node else linked


def _vocabulary() -> dict[str, Any]:
    condition = {"$ref": "#/$defs/Condition"}
    several = {"type": "array", "items": condition, "minItems": 1}
    combinators = {"all": several, "any": several, "not": condition}
    operand = {"$ref": "#/$defs/Operand"}
    return {
        "CanonicalField": {"enum": sorted(FIELDS)},
        "Name": {"anyOf": [{"enum": sorted(NAMES)}, {"pattern": _HIT}]},
        "Operand": {"anyOf": [_LITERAL, _LITERALS, _REFERENCE, _operators()]},
        "Condition": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "patternProperties": {_HIT: operand},
            "properties": combinators | {name: _described(name, operand) for name in sorted(NAMES)},
        },
    }


def _described(name: str, operand: dict[str, Any]) -> dict[str, Any]:
    return {**operand, "description": FIELDS[name].doc} if name in FIELDS else operand


def _operators() -> dict[str, Any]:
    pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    literal = {"anyOf": [_LITERAL, _REFERENCE]}
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {
            **dict.fromkeys(("eq", "ne", "has"), literal),
            **dict.fromkeys(("in", "not_in"), _SEVERAL),
            **dict.fromkeys(("lt", "le", "gt", "ge", "multiple_of"), _NUMBER),
            "between": pair,
            "matches": {"type": "string", "format": "regex"},
            "type": {"enum": list(TYPES)},
            **dict.fromkeys(ORIGIN_TESTS, _BOOLEAN),
        },
    }
