"""ms-swift on Megatron: `megatron sft|pt|rlhf FILE`, the same loader with Megatron's arguments, not the Trainer's.

Without `tuner_type` the whole model trains here. Weights are kept in fp32 beside those that compute.
Source: ms-swift 4.6.0 `megatron/arguments/`.
"""

from __future__ import annotations

from loralint.frameworks.convert import dtype, never, not_null, words
from loralint.frameworks.readers.ms_swift import SECOND, Convert, pins
from loralint.frameworks.readers.ms_swift import TABLE as PLAIN
from loralint.frameworks.readers.ms_swift_values import method, rate, settle
from loralint.frameworks.table import SKIP, Entry, Reader
from loralint.model import Unknown

_SHARED = """
    model torch_dtype max_model_len freeze_vit freeze_aligner freeze_llm new_special_tokens lora_rank lora_alpha
    lora_dropout target_regex target_modules modules_to_save lora_bias use_rslora rlhf_type task_type bf16 fp16
    dataset rope_scaling max_length packing padding_free loss_scale template split_dataset_ratio val_dataset
    cached_val_dataset streaming save_total_limit beta loss_type label_smoothing num_generations reward_model ref_model
    weight_decay adam_beta1 adam_beta2 seed report_to save_strategy trainable_parameters teacher_model
"""
_FOURTH = "ms-swift>=4"
_THIRD = "ms-swift<4"
_OPTIMIZERS: dict[object, object] = {"adam": "adamw", "dist_muon": "muon"}
_SCHEDULES: dict[object, object] = {"WSD": "warmup_stable_decay", "inverse-square-root": "inverse_sqrt"}
_WRITTEN: dict[object, object] = {"warmup_stable_decay": "WSD", "inverse_sqrt": "inverse-square-root"}


def recomputes(value: object) -> object:
    """Read what is recomputed: `selective` is the attention alone, and still some."""
    return value != "none" if isinstance(value, str) else SKIP


def written_recompute(value: object) -> object:
    """Write the usual amounts."""
    return {True: "selective", False: "none"}.get(value, SKIP) if isinstance(value, bool) else SKIP


def since_4(
    field: str, new: str, old: str, read: Convert = not_null, default: object = SKIP
) -> tuple[Entry, ...]:  # fmt: skip
    """Rows of a setting that version 3 named otherwise."""
    return (
        Entry(field, new, read, default=default, when=_FOURTH),
        Entry(field, old, read, default=default, when=_THIRD),
        Entry(field, old, read, never, when=_FOURTH),
        Entry(field, new, read, never, when=_THIRD),
    )


_OWN = (
    *since_4("adapter.method", "tuner_type", "train_type", method, "full"),
    Entry("adapter.dtype", "main_params_dtype", dtype, never, "fp32"),
    Entry("adapter.init", "", write=never, default="true"),
    Entry("optim.name", "optimizer", words(_OPTIMIZERS), words({"adamw": "adam"}), "adamw"),
    Entry("optim.lr", "lr", not_null, default=rate),
    Entry("optim.eps", "adam_eps", not_null, default=1e-8),
    Entry("optim.max_grad_norm", "clip_grad", not_null, default=1.0),
    Entry("schedule.name", "lr_decay_style", words(_SCHEDULES), words(_WRITTEN), "cosine"),
    Entry("schedule.min_lr", "min_lr", not_null, default=0.0),
    Entry("schedule.warmup_steps", "lr_warmup_iters", not_null, default=0),
    Entry("schedule.warmup_ratio", "lr_warmup_fraction", not_null, default=0.0),
    Entry("batch.micro", "micro_batch_size", not_null, default=1),
    Entry("batch.global", "global_batch_size", not_null, default=16),
    Entry("batch.accumulation", "global_batch_size", never, never, Unknown("it depends on the number of devices")),
    *since_4("train.epochs", "num_train_epochs", "max_epochs"),
    Entry("train.max_steps", "train_iters", not_null),
    Entry("quant.bits", "", write=never, default=16),
    *since_4("eval.steps", "eval_steps", "eval_interval", default=lambda look: look.get("checkpoint.save_steps").value),
    *since_4("checkpoint.save_steps", "save_steps", "save_interval", default=500),
    *since_4("checkpoint.output_dir", "output_dir", "save"),
    *since_4("train.logging_steps", "logging_steps", "log_interval", default=5),
    Entry("memory.gradient_checkpointing", "recompute_granularity", recomputes, written_recompute, default=True),
    Entry("dist.tensor_parallel", "tensor_model_parallel_size", not_null, default=1),
    Entry("dist.context_parallel", "context_parallel_size", not_null, default=1),
)
_OURS = {row.field for row in _OWN}

READER = Reader(
    name="ms-swift",
    title="ms-swift",
    dialect="pyyaml",
    table=(
        *_OWN,
        *(row for row in PLAIN if row.key in _SHARED.split() and row.field not in _OURS and row.when != SECOND),
    ),
    keys="ms-swift-megatron",
    coerces=True,
    packages=("ms-swift", "peft"),
    pins=pins,
    combine=settle,
)
