"""LLaMA-Factory v1 (USE_V1=1): nested plugin configs, other names and other defaults than the flat file.

Sources: llamafactory 0.9.5 and its main branch of August 2026, `v1/config/`, `v1/core/`, `v1/plugins/`.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, long_dtype, lower, never, not_null, only_one
from loralint.frameworks.readers.llamafactory import names, told_by
from loralint.frameworks.readers.training_arguments import path, zero_stage
from loralint.frameworks.table import SKIP, Entry, Look, Reader
from loralint.model import Unknown

_FULL_PRECISION = 16
_QLORA_BITS = 4
_LAUNCHED = Unknown("the sub-command that starts it (sft, dpo, rm) says it")


def targets(value: object) -> object:
    """Read module names; a text is one name, also with commas in it, and `all` every linear layer."""
    return "all-linear" if value == "all" else names(value)


def written_targets(value: object) -> object:
    """Write names as a list; there is no way to say a regular expression."""
    if isinstance(value, str):
        return "all" if value == "all-linear" else SKIP
    return value


def when_named(name: str, answer: object) -> Callable[[object], object]:
    """Make a conversion for a plugin's name that answers the field; other names say nothing."""
    return lambda value: answer if value == name else SKIP


def of_lora(answer: object) -> Callable[[Look], object]:
    """Make a default of the LoRA plugin."""
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def bits(look: Look) -> object:
    """Give 4 bits for a `bnb` plugin that names none, and full precision without a plugin."""
    return _QLORA_BITS if look.get("quant.method").known else _FULL_PRECISION


def of_qlora(answer: object) -> Callable[[Look], object]:
    """Make a default of bitsandbytes' 4-bit weights."""
    return lambda look: answer if look.get("quant.bits").value == _QLORA_BITS else SKIP


def of_adamw(answer: object) -> Callable[[Look], object]:
    """Make a default of the AdamW that trains when no optimizer plugin is named."""
    return lambda look: answer if look.get("optim.name").origin == "default" else SKIP


def accumulation(look: Look) -> object:
    """Give one pass per step when no global batch is asked for; else it follows from the number of devices."""
    return 1 if look.get("batch.global").value is None else SKIP


def per_epoch(value: object) -> object:
    """Turn epochs between checkpoints into checkpoints per epoch, and back."""
    return 1 / value if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else SKIP


def saves(look: Look) -> object:
    """Say that only the end is saved unless steps or epochs between checkpoints are given."""
    by_epochs = look.get("checkpoint.saves_per_epoch").known
    return "steps" if by_epochs or look.get("checkpoint.save_steps").known else "no"


def flattens(value: object) -> object:
    """Tell the strategies that flatten batches from those that pad."""
    return "padding_free" in value if isinstance(value, str) else SKIP


def flattening(value: object) -> object:
    """Give the strategy that flattens batches, or the one that pads."""
    return "padding_free" if value is True else "normal"


def trains(look: Look) -> object:
    """Tell a file for training from one for chat."""
    return look.get("data.datasets").known


READER = Reader(
    name="llamafactory",
    title="LLaMA-Factory",
    dialect="omegaconf",
    table=(
        # the base model
        Entry("model.base", "model", not_null, default="Qwen/Qwen3-4B-Instruct-2507"),
        Entry("model.dtype", "model", never, never, "auto"),
        Entry("model.attention", "flash_attn", lower, default="sdpa"),
        Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
        # the adapter
        Entry("adapter.method", "peft_config.name", lower, default="full"),
        Entry("adapter.rank", "peft_config.r", not_null, default=of_lora(8)),
        Entry("adapter.alpha", "peft_config.lora_alpha", not_null, default=of_lora(16)),
        Entry("adapter.dropout", "peft_config.lora_dropout", not_null, default=of_lora(0.05)),
        Entry("adapter.targets", "peft_config.target_modules", targets, written_targets, of_lora("all-linear")),
        Entry("adapter.modules_to_save", "peft_config.modules_to_save", names),
        Entry("adapter.rslora", "peft_config.use_rslora", not_null, default=of_lora(answer=False)),
        Entry("adapter.dora", "peft_config.use_dora", not_null, default=of_lora(answer=False)),
        Entry("adapter.dtype", "peft_config.name", never, never, of_lora("fp32")),
        Entry("adapter.resume_from", "peft_config.adapter_name_or_path", not_null),
        # quantisation of the base; `auto` quantises only when bits are given
        Entry("quant.bits", "quant_config.quantization_bit", not_null, default=bits),
        Entry(
            "quant.method",
            "quant_config.name",
            when_named("bnb", "bnb"),
            default=lambda look: SKIP if look.get("quant.bits").value in (None, _FULL_PRECISION) else "bnb",
        ),
        Entry("quant.type", "quant_config.quantization_type", lower, default=of_qlora("nf4")),
        Entry("quant.double", "quant_config.double_quantization", not_null, default=of_qlora(answer=True)),
        Entry("quant.compute_dtype", "quant_config.compute_dtype", dtype, long_dtype, of_qlora("fp16")),
        Entry("quant.storage_dtype", "quant_config.compute_dtype", dtype, long_dtype, of_qlora("fp16")),
        # optimizer and schedule: torch's AdamW at a constant rate without plugins, whose configs need a name first
        Entry("optim.name", "optim_config.name", lower, default="adamw_torch"),
        Entry("optim.lr", "learning_rate", not_null, default=1e-4),
        Entry("optim.weight_decay", "optim_config.wd", not_null, never, of_adamw(0.01)),
        Entry("optim.momentum", "optim_config.momentum", not_null, never),
        Entry("optim.beta1", "optim_config.adamw_betas", never, never, of_adamw(0.9)),
        Entry("optim.beta2", "optim_config.adamw_betas", never, never, of_adamw(0.999)),
        Entry("optim.eps", "optim_config.adamw_eps", not_null, never, of_adamw(1e-8)),
        Entry("optim.max_grad_norm", "max_grad_norm", not_null, default=1.0),
        Entry("schedule.name", "lr_scheduler_config.name", lower, never, "constant"),
        # batch and length of the run
        Entry("batch.micro", "micro_batch_size", not_null, default=1),
        Entry("batch.global", "global_batch_size", not_null),
        Entry("batch.accumulation", "global_batch_size", never, never, accumulation),
        Entry("train.task", "train_dataset", never, never, _LAUNCHED),
        Entry("train.enabled", "peft_config.export_dir", told_by(answer=False), never),
        Entry("train.enabled", "train_dataset", never, never, trains),
        Entry("train.epochs", "num_train_epochs", not_null, default=3),
        Entry("train.max_steps", "max_steps", not_null),
        Entry("train.seed", "seed", not_null, default=42),
        Entry("train.logging_steps", "logging_steps", not_null, default=1),
        Entry("precision.bf16", "bf16", not_null, default=True),
        # data
        Entry("data.datasets", "train_dataset", names, only_one),
        Entry("data.eval_dataset", "eval_dataset", names, only_one),
        Entry("data.sequence_len", "cutoff_len", not_null, default=2048),
        Entry("data.padding_free", "batching_strategy", flattens, flattening, default=False),
        Entry("data.template", "template", not_null),
        # checkpoints
        Entry("checkpoint.output_dir", "output_dir", not_null),
        Entry("checkpoint.save_strategy", "save_steps", never, never, saves),
        Entry("checkpoint.save_steps", "save_steps", not_null),
        Entry("checkpoint.saves_per_epoch", "save_epochs", per_epoch, per_epoch),
        Entry("checkpoint.save_total_limit", "save_total_limit", not_null),
        Entry("checkpoint.resume_from", "resume_from_checkpoint", path),
        # memory, devices, kernels
        Entry("memory.gradient_checkpointing", "enable_activation_checkpointing", not_null, default=True),
        Entry("memory.reentrant", "enable_activation_checkpointing", never, never, default=False),
        Entry("dist.deepspeed", "dist_config.config_file", path),
        Entry("dist.zero_stage", "dist_config.config_file", zero_stage, never),
        Entry("dist.fsdp", "dist_config.name", lambda value: value in ("fsdp2", "fsdpturbo"), never, False),
        Entry("dist.fsdp_version", "dist_config.name", when_named("fsdp2", 2), never),
        Entry("kernel.liger", "kernel_config.name", when_named("liger_kernel", answer=True), never, False),
        # preference, on the main branch
        Entry("pref.beta", "pref_beta", not_null),
        Entry("pref.loss", "pref_loss", lower),
        Entry("pref.label_smoothing", "dpo_label_smoothing", not_null),
    ),
    keys="llamafactory_v1",
    coerces=False,
    packages=("llamafactory", "transformers", "peft", "bitsandbytes"),
    coerces_inside=True,
)
