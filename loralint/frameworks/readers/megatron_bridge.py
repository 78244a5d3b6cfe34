"""Megatron-Bridge (0.3.1 and 067f987d read): YAML that overrides a Python recipe's ConfigContainer, section by section.

What the file does not say the recipe does, so nothing absent has a default here. `peft` exists only in recipes that
have an adapter. Patterns match a module's own name or, with `*`, its whole path.
Sources: Megatron-Bridge src/megatron/bridge/{peft/lora.py,peft/module_matcher.py,training/config.py}, its tutorials.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, never, not_null
from loralint.frameworks.readers.globs import all_but, read_globs
from loralint.frameworks.readers.hydra import filled_later
from loralint.frameworks.table import SKIP, Entry, Reader, Values
from loralint.source.document import Document

_STYLES = {"wsd": "warmup_stable_decay", "inverse-square-root": "inverse_sqrt"}


def _method(section: object) -> object:
    return "lora" if isinstance(section, dict) else "full"


def _style(name: object) -> object:
    return _STYLES.get(str(name).lower(), str(name).lower()) if name is not None else SKIP


def _mixed(word: str) -> Callable[[object], object]:
    return lambda name: word in name.lower() if isinstance(name, str) else SKIP


def _written_mixed(word: str) -> Callable[[object], object]:
    return lambda on: f"{word}_mixed" if on is True else SKIP


def _targets(names: object) -> object:
    """Keep a list without patterns as it is; an empty one means every linear layer."""
    return "all-linear" if names == [] else read_globs(names)


def recipe(_: Document) -> str:
    """Give the reason why an absent key is set elsewhere."""
    return "the recipe that the file overrides sets it"


def combine(document: Document, values: Values) -> Values:
    """Only what the command line fills in needs a second look."""
    del document
    return filled_later(values)


TABLE = (
    Entry("model.base", "checkpoint.pretrained_checkpoint", not_null, never),
    # the adapter
    Entry("adapter.method", "peft", _method, never),
    Entry("adapter.rank", "peft.dim", not_null),
    Entry("adapter.alpha", "peft.alpha", not_null),
    Entry("adapter.dropout", "peft.dropout", not_null),
    Entry("adapter.targets", "peft.target_modules", _targets, lambda names: names if isinstance(names, list) else SKIP),
    Entry("adapter.targets", "peft.exclude_modules", all_but, never),
    Entry(
        "adapter.exclude", "peft.exclude_modules", read_globs, lambda names: names if isinstance(names, list) else SKIP
    ),
    Entry("adapter.init", "peft.lora_A_init_method", not_null, never),
    Entry("adapter.dtype", "peft.lora_dtype", dtype, never),
    Entry("model.freeze_vision", "peft.freeze_vision_model", not_null),
    Entry("model.freeze_projector", "peft.freeze_vision_projection", not_null),
    Entry("model.freeze_language", "peft.freeze_language_model", not_null),
    # optimizer and schedule
    Entry("optim.name", "optimizer.optimizer", not_null),
    Entry("optim.lr", "optimizer.lr", not_null),
    Entry("optim.weight_decay", "optimizer.weight_decay", not_null),
    Entry("optim.beta1", "optimizer.adam_beta1", not_null),
    Entry("optim.beta2", "optimizer.adam_beta2", not_null),
    Entry("optim.eps", "optimizer.adam_eps", not_null),
    Entry("optim.max_grad_norm", "optimizer.clip_grad", not_null),
    Entry("schedule.name", "scheduler.lr_decay_style", _style),
    Entry("schedule.warmup_steps", "scheduler.lr_warmup_iters", not_null),
    Entry("schedule.warmup_ratio", "scheduler.lr_warmup_fraction", not_null),
    Entry("schedule.min_lr", "optimizer.min_lr", not_null),
    # batch and length of the run
    Entry("batch.micro", "train.micro_batch_size", not_null),
    Entry("batch.global", "train.global_batch_size", not_null),
    Entry("train.max_steps", "train.train_iters", not_null),
    Entry("train.seed", "rng.seed", not_null),
    Entry("train.logging_steps", "logger.log_interval", not_null),
    # precision
    Entry("precision.bf16", "mixed_precision", _mixed("bf16"), _written_mixed("bf16")),
    Entry("precision.fp16", "mixed_precision", _mixed("fp16"), _written_mixed("fp16")),
    # data
    Entry("data.datasets", "dataset.dataset_root", lambda name: [name] if isinstance(name, str) else SKIP, never),
    Entry("data.sequence_len", "dataset.seq_length", not_null),
    Entry("data.sequence_len", "model.seq_length", not_null, never),
    # evaluation and checkpoints
    Entry("eval.steps", "train.eval_interval", not_null),
    Entry("checkpoint.output_dir", "checkpoint.save", not_null),
    Entry("checkpoint.save_steps", "checkpoint.save_interval", not_null),
    Entry("checkpoint.resume_from", "checkpoint.load", not_null),
    # devices
    Entry("dist.tensor_parallel", "model.tensor_model_parallel_size", not_null),
    Entry("dist.context_parallel", "model.context_parallel_size", not_null),
)

READER = Reader(
    name="megatron-bridge",
    title="Megatron-Bridge",
    dialect="omegaconf",
    table=TABLE,
    keys="megatron-bridge",
    coerces=False,
    packages=("megatron-bridge", "torch"),
    combine=combine,
    references=True,
    partial=recipe,
)
