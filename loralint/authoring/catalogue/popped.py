"""Fields that a config class spends on some layers and does not keep, so that the study meets their numbers alone.

Source: transformers 5.24 configuration_gemma4.py (__post_init__): `global_head_dim` and `num_global_key_value_heads`
become the `per_layer_config` of layers with full attention.
"""

from __future__ import annotations

import re
from typing import Any

TYPES = ("gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_assistant", "gemma4_unified_text")
_USUAL = 512  # of global_head_dim
_HEADS = re.compile(rf"((?:[a-z]\w*\.)*)(num_attention_heads|num_key_value_heads),{_USUAL}\b")


def with_fields(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """The record of a type with these fields where the study saw what they usually are."""
    if name not in TYPES:
        return record
    prefix = "text_config." if "text_config.head_dim" in record["fields"] else ""
    made: dict[str, Any] = _named(record, prefix)
    fields = {
        f"{prefix}global_head_dim": _USUAL,
        f"{prefix}num_global_key_value_heads": {"=": f"{prefix}num_key_value_heads"},
    }
    return {**made, "fields": {**record["fields"], **fields}}


def _named(value: Any, prefix: str) -> Any:
    if isinstance(value, dict):
        return {key: _named(one, prefix) for key, one in value.items()}
    if isinstance(value, list):
        return [_named(one, prefix) for one in value]
    if value == f"weight {_USUAL}":
        return f"weight {prefix}global_head_dim"
    return _HEADS.sub(_fields, value) if isinstance(value, str) else value


def _fields(match: re.Match[str]) -> str:
    heads = match[2].replace("num_key", "num_global_key")
    return f"{match[1]}{heads},{match[1]}global_head_dim"
