"""What the classes and functions of the training libraries are to a run, by their last name.

Sources: transformers 4.57.6 and 5.24.0, trl 0.12.2, 0.24.0 and 1.16.0, peft 0.21.2, unsloth 2026.10.9.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from loralint.source.script import Call


class Known(NamedTuple):
    """One callable. role: what it is to a run. package: whose version decides its keywords. order: its positional
    parameters, as far as anybody gives them by place. word: task of a trainer or config, method of an adapter or of a
    quantisation.
    """

    role: str
    package: str
    order: tuple[str, ...] = ()
    word: str = ""


_TRAINER = ("model", "args", "data_collator", "train_dataset", "eval_dataset", "processing_class")
_PREFERENCE = ("model", "ref_model", "args", "data_collator", "train_dataset", "eval_dataset", "processing_class")
_REWARDED = ("model", "reward_funcs", "args", "train_dataset", "eval_dataset", "processing_class")
_TASKS = {
    "SFT": "sft", "DPO": "dpo", "KTO": "kto", "ORPO": "orpo", "CPO": "simpo", "Reward": "rm", "GRPO": "grpo",
    "RLOO": "rloo", "PRM": "prm", "GKD": "kd", "PPO": "ppo", "OnlineDPO": "dpo", "BCO": "kto", "GOLD": "kd",
    "Distillation": "kd", "XPO": "dpo", "NashMD": "dpo",
}  # fmt: skip
# the parameters of PPOTrainer came in another order before TRL 0.12
_ORDERS = {"PPO": (), "DPO": _PREFERENCE, "KTO": _PREFERENCE, "BCO": _PREFERENCE, "GRPO": _REWARDED,
           "RLOO": _REWARDED}  # fmt: skip
_ADAPTERS = {
    "LoraConfig": "lora", "AdaLoraConfig": "adalora", "LoHaConfig": "loha", "LoKrConfig": "lokr", "IA3Config": "ia3",
    "OFTConfig": "oft", "BOFTConfig": "boft", "VeraConfig": "vera", "VBLoRAConfig": "vblora", "HRAConfig": "hra",
    "FourierFTConfig": "fourierft", "LNTuningConfig": "ln_tuning", "BoneConfig": "bone", "MissConfig": "miss",
    "PolyConfig": "poly", "PromptTuningConfig": "prompt_tuning", "PrefixTuningConfig": "prefix_tuning",
    "PromptEncoderConfig": "p_tuning", "MultitaskPromptTuningConfig": "multitask_prompt_tuning",
    "AdaptionPromptConfig": "adaption_prompt", "CPTConfig": "cpt", "XLoraConfig": "xlora", "RandLoraConfig": "randlora",
    "TrainableTokensConfig": "trainable_tokens", "C3AConfig": "c3a", "ShiraConfig": "shira", "RoadConfig": "road",
    "WaveFTConfig": "waveft", "DeloraConfig": "delora", "GraloraConfig": "gralora", "OSFConfig": "osf",
    "PveraConfig": "pvera", "LilyConfig": "lily", "PsoftConfig": "psoft", "TinyLoraConfig": "tinylora",
    "AdamssConfig": "adamss", "PeanutConfig": "peanut", "BeftConfig": "beft", "CartridgeConfig": "cartridge",
}  # fmt: skip
_QUANTISERS = {
    "BitsAndBytesConfig": "bnb", "GPTQConfig": "gptq", "AwqConfig": "awq", "HqqConfig": "hqq", "QuantoConfig": "quanto",
    "TorchAoConfig": "torchao", "EetqConfig": "eetq", "AqlmConfig": "aqlm", "AutoRoundConfig": "autoround",
    "FineGrainedFP8Config": "fp8", "Mxfp4Config": "mxfp4", "VptqConfig": "vptq", "HiggsConfig": "higgs",
}  # fmt: skip
# optimizers that a loop of its own makes, by the names that Transformers has for them
_OPTIMIZERS = {
    "AdamW": "adamw_torch", "Adam": "adam", "SGD": "sgd", "Adafactor": "adafactor", "AdamW8bit": "adamw_8bit",
    "PagedAdamW8bit": "paged_adamw_8bit", "PagedAdamW32bit": "paged_adamw_32bit", "PagedAdamW": "paged_adamw_32bit",
    "Lion": "lion", "Lion8bit": "lion_8bit", "PagedLion8bit": "paged_lion_8bit",
}  # fmt: skip

CLASSES: dict[str, Known] = {
    "Accelerator": Known("accelerator", "accelerate"),
    "DataLoader": Known("batches", "torch", ("dataset", "batch_size")),
    **{name: Known("optimizer", "torch", ("params", "lr"), word) for name, word in _OPTIMIZERS.items()},
    "TrainingArguments": Known("arguments", "transformers", ("output_dir",)),
    "Seq2SeqTrainingArguments": Known("arguments", "transformers", ("output_dir",)),
    "UnslothTrainingArguments": Known("arguments", "trl", ("output_dir",), "sft"),
    "Trainer": Known("trainer", "transformers", _TRAINER),
    "Seq2SeqTrainer": Known("trainer", "transformers", _TRAINER),
    "UnslothTrainer": Known("trainer", "trl", _TRAINER, "sft"),
    "get_peft_model": Known("wrap", "peft", ("model", "peft_config", "adapter_name", "mixed")),
    "prepare_model_for_kbit_training": Known(
        "prepare", "peft", ("model", "use_gradient_checkpointing", "gradient_checkpointing_kwargs")
    ),
    "prepare_model_for_int8_training": Known("prepare", "peft", ("model", "use_gradient_checkpointing")),
    **{f"{head}Config": Known("arguments", "trl", ("output_dir",), task) for head, task in _TASKS.items()},
    **{f"{head}Trainer": Known("trainer", "trl", _ORDERS.get(head, _TRAINER), task) for head, task in _TASKS.items()},
    **{name: Known("adapter", "peft", (), method) for name, method in _ADAPTERS.items()},
    **{name: Known("quantisation", "transformers", (), method) for name, method in _QUANTISERS.items()},
}
_UNSLOTH_LOAD = Known("load", "unsloth", ("model_name", "max_seq_length", "dtype", "load_in_4bit"))
_UNSLOTH_WRAP = Known("wrap", "unsloth", ("model", "r", "target_modules", "lora_alpha", "lora_dropout", "bias"))
_AUTO_LOAD = Known("load", "transformers", ("pretrained_model_name_or_path",))
_ADAPTER_LOAD = Known("load-adapter", "peft", ("model", "model_id", "adapter_name", "is_trainable"))
_AUTO_ADAPTER = Known("load-with-adapter", "peft", ("pretrained_model_name_or_path",))
_TOKENIZER_LOAD = Known("load-tokenizer", "transformers", ("pretrained_model_name_or_path",))
# classes of Sentence Transformers that load a model when they are made
SENTENCES = ("SentenceTransformer", "CrossEncoder")
_SENTENCE_LOAD = Known("load", "sentence_transformers", ("model_name_or_path",))
_NO_MODELS = ("Config", "Processor", "Tokenizer", "TokenizerFast", "FeatureExtractor", "Scheduler", "Pipeline")
_ELSEWHERE = frozenset({"diffusers", "timm", "open_clip", "sentence_transformers", "vllm"})

# What makes a training start out of a program without a trainer: any of these.
PREPARING = ("arguments", "adapter", "quantisation", "wrap", "prepare", "load-adapter", "load-with-adapter")


@cache
def _speaking() -> re.Pattern[str]:
    names = [name for name, what in CLASSES.items() if what.role == "trainer" or what.role in PREPARING]
    return re.compile(rf"\b(?:{'|'.join(names)}|PeftModel\w*|PeftMixedModel|AutoPeftModel\w*|Fast\w+)\b")


def speaks(text: str) -> bool:
    """Whether a program names anything that a training start is made of; without that it need not be parsed."""
    return _speaking().search(text) is not None


def of(call: Call) -> Known | None:
    """What a call is to a run. Of the methods of an object that nobody follows, only Unsloth's stands for itself."""
    if call.on is None:
        return known(call.name)
    return _UNSLOTH_WRAP if call.name == "get_peft_model" else None


@lru_cache(maxsize=4096)  # each observer asks of every call, at each start of a program
def known(name: str) -> Known | None:
    """What a called name is, with its imports resolved; None for everything that no table speaks of."""
    whole, _, last = name.rpartition(".")
    package, owner = whole.partition(".")[0], whole.rpartition(".")[2]
    if owner.startswith("Fast") and package in ("unsloth", ""):
        return {"from_pretrained": _UNSLOTH_LOAD, "get_peft_model": _UNSLOTH_WRAP}.get(last)
    if last == "from_pretrained":
        return _loader(package, owner)
    if last in SENTENCES and package in ("sentence_transformers", ""):
        return _SENTENCE_LOAD
    found = CLASSES.get(last)
    return None if found is None or package in _ELSEWHERE else found


def _loader(package: str, owner: str) -> Known | None:
    if owner in ("PeftModel", "PeftMixedModel") or (owner.startswith("PeftModelFor") and package in ("peft", "")):
        return _ADAPTER_LOAD
    if owner == "Swift" and package in ("swift", "modelscope"):  # which loads by PeftModel
        return _ADAPTER_LOAD
    if owner.startswith("AutoPeftModel"):
        return _AUTO_ADAPTER
    if owner.endswith(("Tokenizer", "TokenizerFast", "Processor")):
        return _TOKENIZER_LOAD
    if package in _ELSEWHERE or not owner[:1].isupper() or owner.endswith(_NO_MODELS):
        return None
    return _AUTO_LOAD if "Model" in owner or "For" in owner else None
