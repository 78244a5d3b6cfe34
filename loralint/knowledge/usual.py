"""The layers that PEFT adapts where nobody names any: peft 0.21.2 utils/constants.py."""

from __future__ import annotations

_QUERY_VALUE = ("q_proj", "v_proj")
_AS_LLAMA = (
    "bart", "opt", "gptj", "gpt_neo", "llama", "llama4", "mistral", "mixtral", "stablelm", "gemma", "gemma2",
    "gemma3_text", "qwen2", "qwen3",
)  # fmt: skip
_USUAL: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(_AS_LLAMA, _QUERY_VALUE),
    **dict.fromkeys(("t5", "mt5"), ("q", "v")),
    **dict.fromkeys(("gpt2", "gpt_bigcode"), ("c_attn",)),
    **dict.fromkeys(("bloom", "gpt_neox", "chatglm", "falcon", "RefinedWebModel", "RefinedWeb"), ("query_key_value",)),
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra", "layoutlm"), ("query", "value")),
    "blip-2": ("q", "v", *_QUERY_VALUE),
    "deberta-v2": ("query_proj", "value_proj"),
    "deberta": ("in_proj",),
    "mpt": ("Wqkv",),
    "btlm": ("c_proj", "c_attn"),
    "codegen": ("qkv_proj",),
    "phi": (*_QUERY_VALUE, "fc1", "fc2"),
    "gemma4": r".*language_model\..*\.(q_proj|v_proj)",
    "nemotron_h": ("q_proj", "k_proj", "v_proj", "o_proj"),
    "rwkv": ("key", "value", "receptance", "output"),
    "rwkv7": ("r_proj", "k_proj", "v_proj", "o_proj", "key", "value"),
}


def usual_targets(model_type: str) -> str | tuple[str, ...] | None:
    """The targets for a type of model; None where PEFT has none and stops."""
    return _USUAL.get(model_type)
