"""Rows of Hugging Face's TrainingArguments, shared by every reader whose file carries its names.

A reader puts its own rows before these: of one field the first row with a default decides.
Sources: transformers 4.44.2, 4.57.6, 5.0 to 5.24.0, `training_args.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from loralint.frameworks.convert import lower, never, not_null, one_to_list, when_true
from loralint.frameworks.observe import place
from loralint.frameworks.table import SKIP, Entry, Look, Observation
from loralint.source.scalars import number_text, value

if TYPE_CHECKING:
    from loralint.source.document import Document, Node, Pair

# Floats below 1 in `warmup_steps` are a share of all steps since 5.0; before, `warmup_ratio` was.
SHARES = "transformers>=5"
COUNTS = "transformers<5"
_TO_A_FLOOR = ("cosine_with_min_lr", "cosine_warmup_with_min_lr")
_STRATEGIES = ("eval_strategy", "evaluation_strategy", "save_strategy", "logging_strategy", "hub_strategy")


def strategy(value: object) -> object:
    """Read a strategy; an unquoted `no` is a YAML boolean, and `observe_strategies` says what comes of it."""
    return "no" if value is False else lower(value)


def share(value: object) -> object:
    """Read `warmup_steps: 0.05` as a share of all steps; a count says nothing about the share."""
    return value if isinstance(value, float) and 0 < value < 1 else SKIP


def count(value: object) -> object:
    """Read `warmup_steps` as a count; a share says nothing about it."""
    return SKIP if value is None or share(value) is not SKIP else value


def writable_share(value: object) -> object:
    """Write a share below 1: 1 and more would be read as a count."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1 else SKIP


def zero_stage(value: object) -> object:
    """Read the stage from the usual names of DeepSpeed files: `ds_z3_offload.json`, `zero2.json`, `stage_1`."""
    import re

    if not isinstance(value, str):
        return SKIP
    found = re.search(r"(?:zero|stage|(?<![a-z])z)[_-]?([0-3])(?![0-9])", value.lower())
    return int(found[1]) if found else SKIP


def path(value: object) -> object:
    """Read a file's name; an inline mapping is none."""
    return value if isinstance(value, str) and value else SKIP


def resumed(value: object) -> object:
    """Read what a run goes on from; true stands for the last checkpoint in the output folder, a number for its text."""
    if value is True:
        return "latest"
    return str(value) if isinstance(value, int) and value is not False else path(value)


def switched_on(value: object) -> object:
    """Tell whether `fsdp` is on: `full_shard auto_wrap`, `[full_shard]` and `true` are; empty and null are not."""
    return bool(value) and value != "false"


def fsdp_classes(value: object) -> object:
    """Read one name, or a list of which the first stands for all."""
    if isinstance(value, list):
        return value[0] if value else SKIP
    return not_null(value)


def trackers(value: object) -> object:
    """Read `none` as an empty list."""
    return [] if value in ("none", "", []) else SKIP if value is None else one_to_list(value)


def written_trackers(value: object) -> object:
    """Write an empty list as the word for it."""
    return "none" if value == [] else value


def longest_first(value: object) -> object:
    """Read `train_sampling_strategy`, which took over from `group_by_length`."""
    return SKIP if value is None else value == "group_by_length"


def for_grouping(value: object) -> object:
    """Give the sampling strategy that groups, or does not."""
    return "group_by_length" if value is True else "random"


def eval_steps(look: Look) -> object:
    """Give `logging_steps`, which stands in when evaluation goes by steps."""
    return look.get("train.logging_steps").value if look.get("eval.strategy").value == "steps" else SKIP


def metric(look: Look) -> object:
    """Give the evaluation loss, which decides when a best checkpoint is wanted and no metric is named."""
    best = look.get("checkpoint.load_best").value is True
    return "loss" if best or look.get("schedule.name").value == "reduce_lr_on_plateau" else SKIP


def greater_is_better(look: Look) -> object:
    """Say whether more is better, which holds unless the metric's name ends in "loss"."""
    name = look.get("checkpoint.metric").value
    return not name.endswith("loss") if isinstance(name, str) else SKIP


def since_5(new: object, old: object) -> Callable[[Look], object]:
    """Make a default that changed with transformers 5.0."""
    return lambda look: new if look.version_is(SHARES) else old


def reentrant(look: Look) -> object:
    """Say what an absent `use_reentrant` means once checkpointing is on."""
    on = look.get("memory.gradient_checkpointing").value is True
    return not look.version_is(SHARES) if on else SKIP


TRAINING_ARGUMENTS: tuple[Entry, ...] = (
    Entry("checkpoint.output_dir", "output_dir", not_null),
    Entry("checkpoint.overwrite_output_dir", "overwrite_output_dir", default=since_5(SKIP, False)),
    # optimizer
    Entry("optim.name", "optim", lower, default=since_5("adamw_torch_fused", "adamw_torch")),
    Entry("optim.lr", "learning_rate", not_null, default=5e-5),
    Entry("optim.weight_decay", "weight_decay", not_null, default=0.0),
    Entry("optim.beta1", "adam_beta1", not_null, default=0.9),
    Entry("optim.beta2", "adam_beta2", not_null, default=0.999),
    Entry("optim.eps", "adam_epsilon", not_null, default=1e-8),
    Entry("optim.max_grad_norm", "max_grad_norm", not_null, default=1.0),
    # schedule
    Entry("schedule.name", "lr_scheduler_type", lower, default="linear"),
    Entry("schedule.warmup_steps", "warmup_steps", count, default=0, when=SHARES),
    Entry("schedule.warmup_steps", "warmup_steps", not_null, default=0, when=COUNTS),
    Entry("schedule.warmup_ratio", "warmup_steps", share, writable_share, default=0.0, when=SHARES),
    Entry("schedule.warmup_ratio", "warmup_ratio", not_null, never, when=SHARES),
    Entry("schedule.warmup_ratio", "warmup_ratio", not_null, default=0.0, when=COUNTS),
    Entry("schedule.min_lr", "lr_scheduler_kwargs.min_lr", not_null),
    Entry("schedule.min_lr_ratio", "lr_scheduler_kwargs.min_lr_rate", not_null),
    # batch and length
    Entry("batch.micro", "per_device_train_batch_size", not_null, default=8),
    Entry("batch.micro", "per_gpu_train_batch_size", not_null, never),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("batch.eval_micro", "per_device_eval_batch_size", not_null, default=8),
    Entry("batch.drop_last", "dataloader_drop_last", not_null, default=False),
    Entry("batch.shrinks", "auto_find_batch_size", not_null, default=False),
    Entry("data.workers", "dataloader_num_workers", not_null, default=0),
    Entry("data.workers_stay", "dataloader_persistent_workers", not_null),
    Entry("train.epochs", "num_train_epochs", not_null, default=3.0),
    Entry("train.max_steps", "max_steps", not_null, default=-1),
    Entry("train.seed", "seed", not_null, default=42),
    Entry("train.neftune_alpha", "neftune_noise_alpha", not_null),
    Entry("train.report_to", "report_to", trackers, written_trackers, default=since_5([], ["all"])),
    Entry("train.logging_steps", "logging_steps", not_null, default=500),
    Entry("train.group_by_length", "train_sampling_strategy", longest_first, for_grouping, when="transformers>=5.2"),
    Entry("train.group_by_length", "group_by_length", not_null, default=False),
    # precision
    Entry("precision.bf16", "bf16", not_null, default=False),
    Entry("precision.fp16", "fp16", not_null, default=False),
    Entry("precision.tf32", "tf32", not_null),
    # evaluation and checkpoints
    Entry("eval.strategy", "eval_strategy", strategy, default="no"),
    Entry("eval.strategy", "evaluation_strategy", strategy, never),
    Entry("eval.steps", "eval_steps", not_null, default=eval_steps),
    Entry("eval.label_names", "label_names", one_to_list),
    Entry("data.remove_unused_columns", "remove_unused_columns", not_null),
    Entry("checkpoint.save_strategy", "save_strategy", strategy, default="steps"),
    Entry("checkpoint.save_steps", "save_steps", not_null, default=500),
    Entry("checkpoint.save_total_limit", "save_total_limit", not_null),
    Entry("checkpoint.save_only_model", "save_only_model", not_null, default=False),
    Entry("checkpoint.load_best", "load_best_model_at_end", not_null, default=False),
    Entry("checkpoint.metric", "metric_for_best_model", not_null, default=metric),
    Entry("checkpoint.greater_is_better", "greater_is_better", not_null, default=greater_is_better),
    Entry("checkpoint.resume_from", "resume_from_checkpoint", resumed),
    # memory, devices, kernels
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null, default=False),
    Entry("memory.gradient_checkpointing", "activation_checkpointing", not_null),
    Entry("memory.reentrant", "gradient_checkpointing_kwargs.use_reentrant", not_null, default=reentrant),
    Entry("memory.reentrant", "activation_checkpointing_kwargs.use_reentrant", not_null),
    Entry("dist.deepspeed", "deepspeed", path),
    Entry("dist.zero_stage", "deepspeed.zero_optimization.stage", write=never),
    Entry("dist.zero_stage", "deepspeed", zero_stage, never),
    Entry("dist.fsdp", "fsdp", switched_on, default=False),
    Entry("dist.fsdp_version", "fsdp_config.version", not_null),
    Entry("dist.fsdp_version", "fsdp_config.fsdp_version", not_null, never),
    Entry("dist.fsdp_wrap_class", "fsdp_config.transformer_layer_cls_to_wrap", fsdp_classes),
    Entry("dist.fsdp_wrap_class", "fsdp_config.fsdp_transformer_layer_cls_to_wrap", fsdp_classes, never),
    Entry("dist.fsdp_wrap_class", "fsdp_transformer_layer_cls_to_wrap", fsdp_classes, never),
    Entry("dist.fsdp_use_orig_params", "fsdp_config.use_orig_params", not_null),
    Entry("dist.fsdp_use_orig_params", "fsdp_config.fsdp_use_orig_params", not_null, never),
    Entry("dist.fsdp_cpu_ram_efficient", "fsdp_config.cpu_ram_efficient_loading", not_null),
    Entry("dist.fsdp_cpu_ram_efficient", "fsdp_config.fsdp_cpu_ram_efficient_loading", not_null, never),
    Entry("dist.fsdp_checkpointing", "fsdp_config.activation_checkpointing", not_null),
    Entry("dist.fsdp_checkpointing", "fsdp_config.fsdp_activation_checkpointing", not_null, never),
    Entry("dist.fsdp_offload", "fsdp_config.cpu_offload", not_null),
    Entry("dist.fsdp_state_dict", "fsdp_config.state_dict_type", lower),
    Entry("dist.fsdp_state_dict", "fsdp_config.fsdp_state_dict_type", lower, never),
    Entry("dist.ddp_find_unused", "ddp_find_unused_parameters", not_null),
    Entry("kernel.liger", "use_liger_kernel", not_null, default=False),
    Entry("kernel.fused_loss", "use_liger_kernel", when_true(canonical=True), never, default=False),
    Entry("kernel.compile", "torch_compile", not_null, default=False),
)


def observe_strategies(document: Document, _: Look) -> list[Observation]:
    """Observe `eval_strategy: no` without quotes: it is false, and Transformers knows no strategy of that name."""
    return list(_strategies(document))


def _strategies(document: Document) -> Iterator[Observation]:
    for key in _STRATEGIES:
        pair = document.root.pair(key) if document.root is not None else None
        if pair is not None and pair.value.plain and value(pair.value, "pyyaml") is False:
            yield Observation(
                "coerced",
                place(document, pair, key),
                "crash",
                f"YAML reads `{pair.value.raw}` as false, which is no strategy",
                '"no"',
                "value",
            )


def observe_floor(document: Document, _: Look) -> list[Observation]:
    """Observe a schedule down to a floor that nobody sets."""
    return list(_of_schedule(document, strict=False))


def observe_schedule(document: Document, _: Look) -> list[Observation]:
    """The same, and keywords that the schedule does not take, where Transformers itself makes it."""
    return list(_of_schedule(document, strict=True))


def _of_schedule(document: Document, *, strict: bool) -> Iterator[Observation]:
    root = document.root
    for key in ("lr_scheduler_type", "lr_scheduler"):
        pair = root.pair(key) if root is not None else None
        if root is None or pair is None or not (pair.value.raw in _TO_A_FLOOR or root.pair("lr_scheduler_kwargs")):
            continue
        from loralint.frameworks.readers.schedules import floor, strangers

        if pair.value.raw in _TO_A_FLOOR:
            yield from floor(document, root, pair, key)
        if strict:
            yield from strangers(document, root, pair)


def observe_workers(document: Document, _: Look) -> list[Observation]:
    """Observe batches that are to be fetched ahead while no worker fetches any."""
    root = document.root
    found = fetched_ahead(root, lambda node: value(node, "pyyaml")) if root is not None else None
    return [ahead(document, found, found.key)] if found is not None else []


def fetched_ahead(root: Node, read: Callable[[Node], object]) -> Pair | None:
    """Find a number of batches to fetch ahead beside no workers, of which there are none by default."""
    ahead, workers = root.pair("dataloader_prefetch_factor"), root.pair("dataloader_num_workers")
    if ahead is None or not isinstance(read(ahead.value), int):
        return None
    return ahead if workers is None or read(workers.value) == 0 else None


def ahead(document: Document, pair: Pair, key: str) -> Observation:
    """Say what Transformers makes of it when the arguments are made (since 4.38)."""
    message = "only workers fetch batches ahead, and dataloader_num_workers is 0"
    data = {"advice": "write dataloader_num_workers: 4, or leave the prefetch factor out"}
    return Observation("rejected", place(document, pair, key), "crash", message, package="transformers", data=data)


def observe_texts(document: Document, rows: tuple[Entry, ...]) -> Iterator[Observation]:
    """Observe numbers that stay text under a loader that converts nothing; nobody knows whether the script does."""
    from loralint.canonical.fields import FIELDS
    from loralint.source.literal import scalar_text

    wanted = {entry.key: entry for entry in rows if FIELDS[entry.field].type in {"int", "float", "number"}}
    dialect = "json" if document.format == "json" else "pyyaml"  # HfArgumentParser has a loader for each
    for pair in (
        document.root.pairs if document.root is not None and document.format not in ("flags", "settings") else ()
    ):
        read = value(pair.value, dialect) if pair.key in wanted and pair.value.kind == "scalar" else None
        number = number_text(read) if isinstance(read, str) else None
        if number is not None:
            yield Observation(
                "coerced",
                place(document, pair, pair.key),
                "harmless",  # published scripts convert it, or they would not have trained
                f"`{pair.value.raw}` stays a text for its loader",
                scalar_text(number, "yaml"),  # `1e-05` would be a text again
                "value",
                data={"outcome": "training stops in the optimizer unless the script converts it"},
            )
