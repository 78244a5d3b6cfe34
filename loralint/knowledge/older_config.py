"""What Transformers makes of a config.json in an older layout, before its modules follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# configuration_*.py of transformers 5.24: without `text_config` the fields of the text model stand beside it
_FLAT = frozenset({"qwen2_vl", "qwen2_5_vl", "fuyu", "paddleocr_vl", "dots3_note", "glm5_next"})


def as_read(config: Mapping[str, Any], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The config with the fields that its class makes from others; `fields` are those that the catalogue asks for."""
    if config.get("model_type") in _FLAT and config.get("text_config") is None:
        config = {**config, "text_config": {**config, "model_type": f"{config['model_type']}_text"}}
    activation = config.get("feed_forward_proj")
    if isinstance(activation, str) and "is_gated_act" in fields:  # configuration_t5.py and its copies
        config = {**config, "is_gated_act": activation.startswith("gated-")}
    return config
