"""LLaMA-Factory: one flat file of HfArgumentParser keys, for training as well as for inference and export.

Sources: llamafactory 0.7.1 to 0.9.5 and its main branch of August 2026 (`hparams/`, `model/adapter.py`,
`model/patcher.py`, `model/model_utils/`, `train/`), transformers 4.55, 5.2 and 5.6.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from loralint.frameworks.convert import lower, never, not_null, one_to_list, rope, true_for, when_true, words
from loralint.frameworks.flags import as_flags
from loralint.frameworks.readers.llamafactory_faults import observe_faults
from loralint.frameworks.readers.training_arguments import (
    TRAINING_ARGUMENTS,
    observe_schedule,
    observe_strategies,
    observe_workers,
)
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

# `true` and `false` were accepted before 0.7.
_ATTENTION: dict[object, object] = {
    "disabled": "eager",
    False: "eager",
    "fa2": "flash_attention_2",
    True: "flash_attention_2",
    "fa3": "flash_attention_3",
}
_WRITTEN_ATTENTION: dict[object, object] = {
    "eager": "disabled",
    "flash_attention_2": "fa2",
    "flash_attention_3": "fa3",
}
# Only a file for training sets one of these; `stage` and `finetuning_type` also stand in files for chat and export.
_OF_TRAINING = (
    "checkpoint.output_dir",
    "data.datasets",
    "optim.lr",
    "batch.micro",
    "batch.accumulation",
    "train.epochs",
    "train.max_steps",
    "adapter.rank",
    "adapter.alpha",
    "adapter.dropout",
    "adapter.targets",
)
# Fields that have switches of LLaMA-Factory's own; Transformers' keys for them do not decide.
_OWN_SWITCHES = frozenset(
    {"memory.gradient_checkpointing", "memory.reentrant", "checkpoint.overwrite_output_dir", "dist.ddp_find_unused"}
)
_FULL_PRECISION = 16
_QLORA_BITS = 4


def names(value: object) -> object:
    """Read one name or several."""
    return not_null(one_to_list(value))


def targets(value: object) -> object:
    """Read module names; `all` alone means every linear layer, in a longer list it is a name like any other."""
    value = names(value)
    return "all-linear" if value == ["all"] else value


def written_targets(value: object) -> object:
    """Write names with commas between them; there is no way to say a regular expression."""
    if isinstance(value, str):
        return "all" if value == "all-linear" else SKIP
    return joined(value)


def joined(value: object) -> object:
    """Write a list with commas between its words."""
    return ",".join(str(item) for item in value) if isinstance(value, list) else value


def negated(value: object) -> object:
    """Read or write a switch that says the opposite of its field."""
    return not value if isinstance(value, bool) else SKIP


def above_zero(value: object) -> object:
    """Read an alpha; the framework replaces 0 as it replaces null."""
    return value or SKIP


def shares(value: object) -> object:
    """Read `0.7,0.3`, which arrives as a list of texts."""
    if not isinstance(value, list):
        return SKIP
    try:
        return [float(item) for item in value]
    except (TypeError, ValueError):
        return value


def told_by(answer: object) -> Callable[[object], object]:
    """Make a conversion for a key whose mere presence answers the field; null and false say nothing."""
    return lambda value: answer if value else SKIP


def written_init(value: object) -> object:
    """Write the switch for PiSSA: on for it, off for PEFT's usual start."""
    return True if value == "pissa" else False if value is True else SKIP


def trains(look: Look) -> object:
    """Tell a file for training that leaves `do_train` to its launcher from one for chat."""
    return any(look.get(field).origin not in {"default", "absent"} for field in _OF_TRAINING)


def double_rank(look: Look) -> object:
    """Give the alpha of a file that sets none: twice the rank."""
    rank = look.get("adapter.rank").value
    return rank * 2 if isinstance(rank, (int, float)) else rank


def compute_dtype(look: Look) -> object:
    """Give the dtype that the base is loaded and computes in."""
    if look.get("precision.bf16").value is True or look.get("precision.pure_bf16").value is True:
        return "bf16"
    if look.get("precision.fp16").value is True:
        return "fp16"
    return Unknown("without bf16 and fp16, the model's own dtype and the GPU decide")


def trained_dtype(look: Look) -> object:
    """Give the dtype that trained weights are cast to before the first step."""
    stays = look.get("precision.pure_bf16").value is True or look.get("optim.name").value == "badam"
    return "bf16" if stays else "fp32"


def quantized(look: Look) -> bool:
    """Say whether bitsandbytes or another method quantises the base while loading."""
    return look.get("quant.bits").value != _FULL_PRECISION


def qlora(answer: object) -> Callable[[Look], object]:
    """Make a default of bitsandbytes' 4-bit weights; other weights have no such setting."""
    return lambda look: (
        (answer(look) if callable(answer) else answer)
        if look.get("quant.bits").value == _QLORA_BITS and look.get("quant.method").value == "bnb"
        else SKIP
    )


def in_stage(answer: object, *stages: str) -> Callable[[Look], object]:
    """Make a default that only some stages read."""
    return lambda look: answer if look.get("train.task").value in stages else SKIP


def resizes(look: Look) -> object:
    """Say that new tokens make the embedding grow without being asked."""
    return look.get("model.new_tokens").known


def saved_with_new_tokens(look: Look) -> object:
    """Give the embedding and the head, which a resized vocabulary makes trainable when no module is named."""
    return ["embed_tokens", "lm_head"] if look.get("model.resize_vocab").value is True else SKIP


def finds_unused(look: Look) -> object:
    """Say that DDP looks for nothing under LoRA; without LoRA the Trainer decides."""
    return False if look.get("adapter.method").value == "lora" else SKIP


_OWN = (
    # the base model
    Entry("model.base", "model_name_or_path", not_null),
    Entry("model.dtype", "bf16", never, never, compute_dtype),
    Entry("model.rope_scaling", "rope_scaling", rope),
    Entry("model.attention", "flash_attn", words(_ATTENTION), words(_WRITTEN_ATTENTION), "auto"),
    Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
    Entry("model.freeze_vision", "freeze_vision_tower", not_null, default=True),
    Entry("model.freeze_projector", "freeze_multi_modal_projector", not_null, default=True),
    Entry("model.freeze_language", "freeze_language_model", not_null, default=False),
    Entry("model.resize_vocab", "resize_vocab", not_null, default=resizes),
    Entry("model.new_tokens", "add_special_tokens", names, joined, split=","),
    Entry("model.new_tokens", "add_tokens", names, joined, split=","),
    Entry("model.new_tokens", "new_special_tokens", names, never, split=","),
    # the adapter
    Entry("adapter.method", "finetuning_type", lower, default="lora"),
    Entry("adapter.rank", "lora_rank", not_null, default=8),
    Entry("adapter.alpha", "lora_alpha", above_zero, default=double_rank),
    Entry("adapter.dropout", "lora_dropout", not_null, default=0.0),
    Entry("adapter.targets", "lora_target", targets, written_targets, "all-linear", split=","),
    Entry("adapter.modules_to_save", "additional_target", not_null, joined, saved_with_new_tokens, split=","),
    Entry("adapter.rslora", "use_rslora", not_null, default=False),
    Entry("adapter.dora", "use_dora", not_null, default=False),
    Entry("adapter.init", "pissa_init", when_true("pissa"), written_init, default=True),
    Entry("adapter.loraplus_ratio", "loraplus_lr_ratio", not_null),
    Entry("adapter.loraplus_ratio", "lora_lr_ratio", not_null, never),
    Entry("adapter.dtype", "pure_bf16", when_true("bf16"), words({"bf16": True, "fp32": False}), trained_dtype),
    Entry("adapter.resume_from", "adapter_name_or_path", not_null),
    Entry("adapter.create_new", "create_new_adapter", not_null, default=False),
    # quantisation of the base
    Entry("quant.bits", "quantization_bit", not_null, default=_FULL_PRECISION),
    Entry(
        "quant.method", "quantization_method", words({"bitsandbytes": "bnb"}),
        default=lambda look: "bnb" if quantized(look) else SKIP,
    ),
    Entry("quant.type", "quantization_type", lower, default=qlora("nf4")),
    Entry("quant.double", "double_quantization", not_null, default=qlora(True)),
    Entry("quant.compute_dtype", "bf16", never, never, qlora(compute_dtype)),
    Entry("quant.storage_dtype", "bf16", never, never, qlora(compute_dtype)),
    # optimizers that have switches of their own, in the order in which the framework asks
    Entry("optim.name", "use_galore", when_true("galore"), true_for("galore")),
    Entry("optim.name", "use_apollo", when_true("apollo"), true_for("apollo")),
    Entry("optim.name", "use_badam", when_true("badam"), true_for("badam")),
    Entry("optim.name", "use_adam_mini", when_true("adam_mini"), true_for("adam_mini")),
    Entry("optim.name", "use_muon", when_true("muon"), true_for("muon")),
    # what is trained, and how long
    Entry("train.task", "stage", lower, default="sft"),
    Entry("train.enabled", "do_train", not_null, default=trains),
    *(
        Entry("train.enabled", key, told_by(answer=False), never)
        for key in ("export_dir", "infer_backend", "do_predict", "do_eval", "n_shot")
    ),
    Entry("train.early_stopping_patience", "early_stopping_steps", not_null),
    Entry("precision.pure_bf16", "pure_bf16", not_null, default=False),
    Entry("precision.fp8", "fp8", not_null, default=False),
    # data
    Entry("data.datasets", "dataset", names, joined, split=","),
    Entry(
        "data.sequence_len", "cutoff_len", not_null,
        default=lambda look: 1024 if look.version_is("llamafactory<0.9.1") else 2048,
    ),
    Entry("data.packing", "neat_packing", when_true(canonical=True), never),
    Entry("data.packing", "packing", not_null, default=lambda look: look.get("train.task").value == "pt"),
    Entry("data.packing_isolated", "neat_packing", not_null, default=False),
    Entry("data.train_on_inputs", "train_on_prompt", not_null, default=False),
    Entry("data.mask_history", "mask_history", not_null, default=False),
    Entry("data.template", "template", not_null),
    Entry("data.val_size", "val_size", not_null, default=0.0),
    Entry("data.eval_dataset", "eval_dataset", names, joined, split=","),
    Entry("data.streaming", "streaming", not_null, default=False),
    Entry("data.max_samples", "max_samples", not_null),
    Entry("data.picture_pixels", "image_max_pixels", not_null, default=768 * 768),
    Entry("data.mix_strategy", "mix_strategy", lower, default="concat"),
    Entry("data.mix_probs", "interleave_probs", shares, joined, split=","),
    # evaluation and checkpoints
    Entry("eval.enabled", "do_eval", not_null, default=lambda look: look.get("eval.strategy").value != "no"),
    Entry("eval.predict", "do_predict", not_null, default=False),
    Entry("eval.generate", "predict_with_generate", not_null, default=False),
    Entry("checkpoint.overwrite_output_dir", "overwrite_output_dir", not_null, default=False),
    Entry("checkpoint.export_dir", "export_dir", not_null),
    # memory, devices, kernels
    Entry("memory.gradient_checkpointing", "disable_gradient_checkpointing", negated, negated, default=True),
    Entry("memory.reentrant", "use_reentrant_gc", not_null, default=True),
    Entry("memory.activation_offload", "use_unsloth_gc", not_null, default=False),
    Entry("dist.device_map", "quantization_device_map", not_null),
    Entry("dist.ddp_find_unused", "ddp_find_unused_parameters", not_null, default=finds_unused),
    Entry("dist.tensor_parallel", "tensor_model_parallel_size", not_null),
    Entry("kernel.unsloth", "use_unsloth", not_null, default=False),
    Entry("kernel.liger", "enable_liger_kernel", when_true(canonical=True), default=False),
    Entry("kernel.fused_loss", "enable_liger_kernel", when_true(canonical=True), never, default=False),
    Entry("kernel.ktransformers", "use_kt", not_null, default=False),
    # preference
    Entry("pref.beta", "pref_beta", not_null, default=in_stage(0.1, "dpo", "kto")),
    *(Entry("pref.beta", key, not_null, never) for key in ("dpo_beta", "orpo_beta")),
    Entry("pref.loss", "pref_loss", lower, default=in_stage("sigmoid", "dpo")),
    Entry("pref.loss", "dpo_loss", lower, never),
    Entry("pref.label_smoothing", "dpo_label_smoothing", not_null, default=in_stage(0.0, "dpo")),
    Entry("pref.reference_model", "ref_model", not_null),
    Entry("rl.reward_model", "reward_model", not_null),
)  # fmt: skip

READER = Reader(
    name="llamafactory",
    title="LLaMA-Factory",
    dialect="omegaconf",
    table=(*_OWN, *(row for row in TRAINING_ARGUMENTS if row.field not in _OWN_SWITCHES)),
    keys="llamafactory",
    coerces=False,
    packages=("llamafactory", "transformers", "peft", "trl", "bitsandbytes"),
    observe=(observe_strategies, observe_schedule, observe_workers, observe_faults),
    dialects=(("llamafactory<0.9.4", "pyyaml"),),
)


@cache
def reader_of(command: str) -> Reader:
    """The reader of the words behind `llamafactory-cli COMMAND`, or behind the script of training."""
    said = {"train.command": "train" if command.startswith("train") else command}
    if command.endswith(".py"):
        said["train.script"] = command

    def told(_document: Document, _values: Values) -> Values:
        return {field: (Value(word, origin="derived", field=field),) for field, word in said.items()}

    return as_flags(READER)._replace(combine=told)
