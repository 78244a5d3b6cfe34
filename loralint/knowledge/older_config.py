"""What Transformers makes of a config.json in an older layout, before its modules follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loralint.knowledge.structure import Unsolved

Config = Mapping[str, Any]

# configuration_*.py of transformers 5.24: without `text_config` the fields of the text model stand beside it
_FLAT = frozenset({"qwen2_vl", "qwen2_5_vl", "fuyu", "paddleocr_vl", "dots3_note", "glm5_next"})
# configuration_utils.py of transformers 5.24: older words for what a layer is
_OLDER_WORDS = {"mamba": "linear_attention", "attention": "full_attention"}
_LISTS = ("layer_types", "layers_block_type")
_PATTERN = {"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"}  # configuration_nemotron_h.py
_COMPRESSED = {0: "sliding_attention", 4: "compressed_sparse_attention", 128: "heavily_compressed_attention"}
# type -> older names of fields, as its configuration_*.py takes them
_NAMES = {
    "bloom": {"n_embed": "hidden_size"},
    "falcon": {"n_embed": "hidden_size"},
    "lfm2": {"block_ff_dim": "intermediate_size", "tie_embedding": "tie_word_embeddings"},
    "lfm2_moe": {"tie_embedding": "tie_word_embeddings"},
    "nemotron_h": {"mamba_n_groups": "n_groups", "mamba_d_conv": "conv_kernel", "mamba_conv_bias": "use_conv_bias"},
}
# fields that give layers of these types other modules or sizes, which the catalogue did not learn, and their defaults
_LAYERED = {"per_layer_config": None}
_INDEXED = {"index_topk_freq": 1, "index_topk_pattern": None}
_DENSE = dict.fromkeys(("first_k_dense_replace", "moe_layer_freq"))
_NOT_LEARNED: dict[str, Config] = {
    **dict.fromkeys(("gemma4_text", "gemma4_unified_text"), _LAYERED),
    **dict.fromkeys(("glm_moe_dsa", "glm5_next_text", "mistral_large4_text"), _INDEXED),
    **dict.fromkeys(("axk1", "axk2", "cohere2_moe", "unlimited_ocr_text"), _DENSE),
    "kimi_linear": {"first_k_dense_replace": None, "linear_attn_config": None},
    "minimax_m3_vl_text": dict.fromkeys(("moe_layer_freq", "mlp_layer_types", "sparse_attention_config")),
}


def as_read(
    model_type: str, config: Config, fields: Mapping[str, Any], *, older: bool = False, partial: bool = False
) -> Config:
    """The config with the fields that its class makes from others; `fields` are those that the catalogue asks for.

    older: Transformers 4 reads it. partial: only some of its fields are given. Raises Unsolved where the catalogue
    cannot tell what they make.
    """
    if model_type in _FLAT and not partial and config.get("text_config") is None:
        config = {**config, "text_config": {**config, "model_type": f"{model_type}_text"}}
    activation = config.get("feed_forward_proj")
    if isinstance(activation, str) and "is_gated_act" in fields:  # configuration_t5.py and its copies
        config = {**config, "is_gated_act": activation.startswith("gated-")}
    return _made(model_type, config, older=older, partial=partial)


def _made(model_type: str, config: Config, *, older: bool, partial: bool) -> Config:
    """The same for the config and that of its text model, by their types."""
    text = config.get("text_config")
    if isinstance(text, Mapping):
        inner = str(text.get("model_type") or f"{model_type}_text")
        config = {**config, "text_config": _made(inner, text, older=older, partial=partial)}
    older_names = ((new, config.get(old)) for old, new in _NAMES.get(model_type, {}).items())
    config = {**config, **{new: value for new, value in older_names if value is not None}}
    for field, usual in _NOT_LEARNED.get(model_type, {}).items():
        if config.get(field, usual) not in (None, usual):
            raise Unsolved(f"the catalogue does not say how the modules follow from {field}")
    config = config if older else _renamed(config)
    field, make = _MADE.get(model_type, ("", None))
    return make(config) if make and (field in config or not partial) else config


def _renamed(config: Config) -> Config:
    """With the present words for kinds of layers."""
    lists = {name: config[name] for name in _LISTS if isinstance(config.get(name), list)}
    return {**config, **{name: [_OLDER_WORDS.get(str(one), one) for one in kinds] for name, kinds in lists.items()}}


def _nemotron_h(config: Config) -> Config:
    pattern = config.get("hybrid_override_pattern")
    if config.get("layers_block_type") is not None:
        return config
    if not isinstance(pattern, str):
        return {**config, "layers_block_type": ["linear_attention", "moe", "full_attention", "mlp"]}
    if not set(pattern) <= set(_PATTERN):
        raise Unsolved("its hybrid_override_pattern has other letters than Transformers knows")
    return {**config, "layers_block_type": [_PATTERN[letter] for letter in pattern]}


def _llama4(config: Config) -> Config:
    step, layers = _number(config, "interleave_moe_layer_step", 1), _number(config, "num_hidden_layers", 48)
    if config.get("moe_layers") is not None or step < 1:
        return config
    return {**config, "moe_layers": list(range(step - 1, layers, step))}


def _deepseek_v4(config: Config) -> Config:
    layers = _number(config, "num_hidden_layers", 43)
    kinds, ratios = config.get("layer_types"), config.get("compress_ratios")
    if kinds is None and isinstance(ratios, list):
        if not set(map(str, ratios)) <= set(map(str, _COMPRESSED)):
            raise Unsolved("its compress_ratios has other numbers than Transformers knows")
        kinds = [_COMPRESSED[int(ratio)] for ratio in ratios]
    if not isinstance(kinds, list):
        names = _COMPRESSED[128], _COMPRESSED[4]
        kinds = [names[i % 2 if i > 1 else 0] for i in range(layers)]
    hashed = _number(config, "num_hash_layers", 3)
    mlp = config.get("mlp_layer_types") or ["hash_moe" if i < hashed else "moe" for i in range(layers)]
    return {**config, "layer_types": kinds[:layers], "mlp_layer_types": mlp}


def _qwen3_next(config: Config) -> Config:
    every, layers = _number(config, "full_attention_interval", 4), config.get("num_hidden_layers")
    if config.get("layer_types") is not None or not every or not isinstance(layers, int):
        return config
    names = "full_attention", "linear_attention"
    return {**config, "layer_types": [names[bool((i + 1) % every)] for i in range(min(layers, 10_000))]}


def _gemma4(config: Config) -> Config:
    """Heads of their own for layers with full attention count only where keys are the values."""
    return config if config.get("attention_k_eq_v") is True else {**config, "num_global_key_value_heads": None}


# type -> the field that decides, and what its class makes of it
_MADE: dict[str, tuple[str, Callable[[Config], Config]]] = {
    "deepseek_v4": ("compress_ratios", _deepseek_v4),
    **dict.fromkeys(("gemma4_text", "gemma4_unified_text"), ("num_global_key_value_heads", _gemma4)),
    "llama4_text": ("interleave_moe_layer_step", _llama4),
    "nemotron_h": ("hybrid_override_pattern", _nemotron_h),
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"), ("full_attention_interval", _qwen3_next)),
}


def _number(config: Config, name: str, usual: int) -> int:
    value = config.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10_000 else usual
