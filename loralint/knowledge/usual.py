"""The layers that PEFT adapts where nobody names any: peft 0.4.0 to 0.21.2, utils/constants.py and utils/other.py."""

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
    **dict.fromkeys(
        ("bloom", "gpt_neox", "chatglm", "chatglm4", "falcon", "RefinedWebModel", "RefinedWeb"), ("query_key_value",)
    ),
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
# The release whose table is the first with a type; of the others 0.4 or an older one is.
_SINCE = {
    **dict.fromkeys(("falcon", "RefinedWebModel", "RefinedWeb", "btlm", "codegen"), "0.5"),
    **dict.fromkeys(("mistral", "stablelm"), "0.6"),
    "phi": "0.7",
    "mixtral": "0.8",
    "gemma": "0.9",
    "qwen2": "0.12",
    "gemma2": "0.13",
    **dict.fromkeys(("qwen3", "gemma3_text", "llama4"), "0.16"),
    **dict.fromkeys(("rwkv", "rwkv7"), "0.18"),
    "gemma4": "0.19",
    "nemotron_h": "0.20",
}


def usual_since(model_type: str) -> str:
    """The release of PEFT that first has targets for a type of model, "" for the oldest that was read."""
    return _SINCE.get(model_type, "")


def usual_targets(model_type: str) -> str | tuple[str, ...] | None:
    """The targets for a type of model; None where PEFT has none and stops."""
    return _USUAL.get(model_type)
