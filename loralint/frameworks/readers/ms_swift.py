"""ms-swift: `swift sft|pt|rlhf FILE`, whose keys become `--key value` and are parsed by HfArgumentParser.

One table for three generations of names: 2 (`sft_type`), 3 (`train_type`) and 4 (`tuner_type`). A file tells its own
by those keys; what nobody tells is the newest. Sources: ms-swift 2.0.0, 2.6.1, 3.0.0, 3.5.0, 3.6.0, 3.12.6, 4.0.0,
4.1.0 and 4.6.0 (`arguments/`, `trainers/arguments.py`, `pipelines/train/tuner.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loralint.frameworks.convert import (
    dtype,
    long_dtype,
    never,
    not_null,
    one_to_list,
    rope,
    true_for,
    when_true,
    words,
)
from loralint.frameworks.readers.argument_words import observe_words
from loralint.frameworks.readers.ms_swift_faults import observe_faults
from loralint.frameworks.readers.ms_swift_values import (
    PRESETS,
    UNQUANTISED,
    accumulation,
    compute_dtype,
    distilling,
    eval_steps,
    eval_strategy,
    first,
    has_pairs,
    init,
    method,
    mixed,
    old_targets,
    plugin,
    positive,
    preset,
    rate,
    settle,
    short_dtype,
    some_bits,
    targets,
    task,
    told,
    told_dtype,
    written_bits,
    written_targets,
)
from loralint.frameworks.readers.training_arguments import TRAINING_ARGUMENTS, path, strategy
from loralint.frameworks.table import SKIP, Entry, Look, Reader, same
from loralint.source.document import Document

NOW = "ms-swift>=3"
SECOND = "ms-swift<3"
_NEWEST_OF = {"sft_type": "2.6.1", "train_type": "3.12.6"}
# Names that only the second generation has, for files that leave `sft_type` to its default.
_OLD = (
    "model_id_or_path", "lora_dropout_p", "lora_target_modules", "template_type", "quantization_bit",
    "check_dataset_strategy", "train_dataset_sample", "bnb_4bit_comp_dtype", "dataset_test_ratio", "use_flash_attn",
)  # fmt: skip
_ATTENTION: dict[object, object] = {"flash_attn": "flash_attention_2"}
_BETAS = {"simpo": 2.0, "grpo": 0.04, "kd": 0.5}

Convert = Callable[[object], object]


def pins(document: Document) -> Mapping[str, str]:
    """Tell the generation by the file's own words, as the newest release that reads them."""
    root = document.root
    if root is None or root.pair("tuner_type") is not None:
        return {}
    for key, version in _NEWEST_OF.items():
        if root.pair(key) is not None:
            return {"ms-swift": version}
    return {"ms-swift": _NEWEST_OF["sft_type"]} if any(root.pair(key) for key in _OLD) else {}


def names(
    field: str, new: str, old: str, read: Convert = not_null, write: Convert = same, default: object = SKIP,
    old_read: Convert | None = None, old_write: Convert | None = None,
) -> tuple[Entry, ...]:  # fmt: skip
    """Rows of a setting that version 2 named otherwise: each name is read always and written for its own releases."""
    read_old, write_old = old_read or read, old_write or write
    return (
        Entry(field, new, read, write, default, when=NOW),
        Entry(field, old, read_old, write_old, default, when=SECOND),
        Entry(field, old, read_old, never, when=NOW),
        Entry(field, new, read, never, when=SECOND),
    )


def until(spec: str, old: object, new: object) -> Callable[[Look], object]:
    """Make a default that another one took over from."""
    return lambda look: old if look.version_is(spec) else new


def for_task(answer: object, *tasks: str) -> Callable[[Look], object]:
    """Make a default that only some tasks read."""
    return lambda look: answer if look.get("train.task").value in tasks else SKIP


def quantised(answer: object, spec: str = "") -> Callable[[Look], object]:
    """Make a default of weights that are quantised while loading, in releases that the spec names."""

    def default(look: Look) -> object:
        return answer if look.get("quant.bits").value != UNQUANTISED and (not spec or look.version_is(spec)) else SKIP

    return default


def all_linear(look: Look) -> object:
    """Adapt every linear layer; version 2 chose attention layers by the model."""
    return SKIP if look.version_is(SECOND) else "all-linear"


def pref_beta(look: Look) -> object:
    """Give the beta that each method of `swift rlhf` has by default."""
    return _BETAS.get(str(look.get("train.task").value), 0.1) if has_pairs(look) else SKIP


def share_of_rows(look: Look) -> object:
    """Give what is held out when nobody says so: one row in a hundred before 3.6, nothing beside a validation set."""
    return 0.0 if look.get("data.eval_dataset").known or not look.version_is("ms-swift<3.6") else 0.01


_MODEL = (
    *names("model.base", "model", "model_id_or_path"),
    Entry("model.base", "model_type", not_null, never, when=SECOND),
    *names("model.dtype", "torch_dtype", "dtype", dtype, long_dtype, "auto", dtype, short_dtype),
    Entry("model.attention", "attn_impl", words(_ATTENTION), words({"flash_attention_2": "flash_attn"}), "auto"),
    Entry("model.attention", "use_flash_attn", when_true("flash_attention_2"), never),
    Entry("model.max_position", "max_model_len", not_null),
    Entry("model.rope_scaling", "rope_scaling", rope),
    Entry("model.freeze_vision", "freeze_vit", not_null, default=until(SECOND, old=False, new=True)),
    Entry("model.freeze_projector", "freeze_aligner", not_null, default=until(SECOND, old=False, new=True)),
    Entry("model.freeze_language", "freeze_llm", not_null, default=False),
    Entry("model.new_tokens", "new_special_tokens", one_to_list),
)

_ADAPTER = (
    Entry("adapter.method", "tuner_type", method, default="lora", when="ms-swift>=4"),
    Entry("adapter.method", "train_type", method, default="lora", when="ms-swift>=3,<4"),
    Entry("adapter.method", "sft_type", method, default="lora", when=SECOND),
    Entry("adapter.method", "tuner_type", method, never, when="ms-swift<4"),
    Entry("adapter.method", "train_type", method, never, when="ms-swift>=4"),
    Entry("adapter.method", "train_type", method, never, when=SECOND),
    Entry("adapter.method", "sft_type", method, never, when=NOW),
    Entry("adapter.rank", "lora_rank", not_null, default=8),
    Entry("adapter.alpha", "lora_alpha", not_null, default=32),
    *names("adapter.dropout", "lora_dropout", "lora_dropout_p", default=0.05),
    # a regular expression replaces the list
    *names("adapter.targets", "target_regex", "lora_target_regex", not_null, never),
    *names("adapter.targets", "target_modules", "lora_target_modules", targets, written_targets, all_linear,
           old_write=old_targets),
    Entry("adapter.target_parameters", "target_parameters", lambda names: one_to_list(names or None)),
    *names("adapter.modules_to_save", "modules_to_save", "lora_modules_to_save", one_to_list),
    *names("adapter.bias", "lora_bias", "lora_bias_trainable", default="none"),
    Entry("adapter.rslora", "use_rslora", not_null, default=False),
    Entry("adapter.dora", "use_dora", not_null, default=False),
    *names("adapter.init", "init_weights", "init_lora_weights", init, default="true"),
    *names("adapter.loraplus_ratio", "lorap_lr_ratio", "lora_lr_ratio"),
    Entry("adapter.dtype", "lora_dtype", told_dtype, long_dtype, "fp32"),
    Entry("adapter.resume_from", "adapters", first),
)  # fmt: skip

_QUANTISATION = (
    *names("quant.bits", "quant_bits", "quantization_bit", some_bits, written_bits, UNQUANTISED),
    Entry("quant.method", "quant_method", not_null, default=quantised("bnb", SECOND)),
    Entry("quant.type", "bnb_4bit_quant_type", not_null, default=quantised("nf4")),
    Entry("quant.double", "bnb_4bit_use_double_quant", not_null, default=quantised(answer=True)),
    *names("quant.compute_dtype", "bnb_4bit_compute_dtype", "bnb_4bit_comp_dtype", dtype, long_dtype, compute_dtype,
           told_dtype, short_dtype),
    Entry("quant.storage_dtype", "bnb_4bit_quant_storage", dtype, long_dtype),
)  # fmt: skip


_RUN = (
    Entry("optim.name", "use_galore", when_true("galore"), true_for("galore")),
    Entry("optim.name", "optimizer", plugin, never),
    Entry("optim.lr", "learning_rate", not_null, default=rate),
    Entry("schedule.warmup_ratio", "warmup_ratio", not_null, default=until(SECOND, 0.05, 0.0)),
    *names("batch.micro", "per_device_train_batch_size", "batch_size", default=1),
    *names("batch.eval_micro", "per_device_eval_batch_size", "eval_batch_size", default=1),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=accumulation),
    Entry("train.task", "teacher_model", distilling, never),  # whatever it is combined with
    Entry("train.task", "rlhf_type", task),
    Entry("train.task", "task_type", words({"seq_cls": "cls", "causal_lm": SKIP}), never, "sft"),
    Entry("train.epochs", "num_train_epochs", not_null, default=until(SECOND, 1, 3.0)),
    Entry("train.early_stopping_patience", "early_stop_interval", not_null),
    Entry("train.unfrozen", "trainable_parameters", one_to_list),
    Entry("precision.bf16", "bf16", not_null, default=mixed("bf16")),
    Entry("precision.fp16", "fp16", not_null, default=mixed("fp16", "fp32")),
)

_DATA = (
    Entry("data.datasets", "dataset", one_to_list),
    Entry("data.sequence_len", "max_length", not_null, default=until(SECOND, 2048, SKIP)),
    Entry("data.packing", "packing", not_null, default=False),
    Entry("data.packing_isolated", "", write=never, default=lambda look: look.get("data.packing").value or SKIP),
    Entry("data.padding_free", "padding_free", not_null, default=lambda look: look.get("data.packing").value),
    Entry("data.train_on_inputs", "loss_scale", lambda value: str(value).startswith("all"), never, default=False),
    Entry("data.mask_history", "loss_scale", lambda value: str(value).startswith("last_round"), never, has_pairs),
    *names("data.template", "template", "template_type", told),
    *names("data.val_size", "split_dataset_ratio", "dataset_test_ratio", default=share_of_rows),
    Entry("data.eval_dataset", "val_dataset", one_to_list),
    Entry("data.eval_dataset", "cached_val_dataset", one_to_list, never),
    Entry("data.streaming", "streaming", not_null, default=False),
    Entry("data.max_samples", "train_dataset_sample", positive, when=SECOND),
    Entry("data.mix_probs", "interleave_prob", not_null),
    *names("eval.strategy", "eval_strategy", "evaluation_strategy", strategy, default=eval_strategy),
    Entry("eval.steps", "eval_steps", not_null, default=eval_steps),
    Entry("checkpoint.output_dir", "output_dir", not_null, default=until(SECOND, "output", SKIP)),
    Entry("checkpoint.save_total_limit", "save_total_limit", not_null, default=until(SECOND, 2, SKIP)),
    Entry("checkpoint.save_only_model", "only_save_model", not_null, never),
)

_REST = (
    Entry("dist.fsdp_version", "fsdp", lambda value: 2 if value == "fsdp2" else SKIP, never),
    Entry("dist.deepspeed", "deepspeed_config_path", path, never),
    *(Entry(field, "deepspeed", preset(said), never) for field, said in PRESETS.items()),
    Entry("dist.device_map", "device_map", path),
    Entry("dist.context_parallel", "sequence_parallel_size", not_null, default=1),
    *names("kernel.liger", "use_liger_kernel", "use_liger", default=False),
    Entry("kernel.unsloth", "tuner_backend", lambda value: value == "unsloth", true_for(canonical=True), default=False),
    Entry("pref.beta", "beta", not_null, default=pref_beta),
    Entry("pref.loss", "loss_type", first, default=for_task("sigmoid", "dpo")),
    Entry("pref.label_smoothing", "label_smoothing", not_null, default=for_task(0, "dpo")),
    *names("pref.reference_model", "ref_model", "ref_model_id_or_path"),
    Entry("rl.num_generations", "num_generations", not_null, default=for_task(8, "grpo")),
    Entry("rl.generation_batch", "generation_batch_size", not_null),
    Entry("rl.steps_per_generation", "steps_per_generation", not_null),
    Entry("rl.vllm", "vllm_mode", not_null),
    *(Entry("rl.server", key, first, never) for key in ("vllm_server_base_url", "vllm_server_host")),
    *names("rl.reward_model", "reward_model", "reward_model_id_or_path", first),
)
# What the Trainer's arguments default to in ms-swift; `reentrant` depends on how many processes run.
_DEFAULTS: dict[str, object] = {
    "optim.weight_decay": 0.1,
    "optim.beta2": until("ms-swift>=3,<3.5", 0.999, 0.95),
    "schedule.name": "cosine",
    "train.report_to": ["tensorboard"],
    "train.logging_steps": 5,
    "memory.gradient_checkpointing": True,
    "memory.reentrant": SKIP,
    "data.workers": SKIP,  # 0 on Windows, else 1
}
_OWN = (*_MODEL, *_ADAPTER, *_QUANTISATION, *_RUN, *_DATA, *_REST)
_REPLACED = {(row.field, row.key) for row in _OWN}
_SETTLED = {row.field for row in _OWN if row.default is not SKIP}


def _trainer(row: Entry) -> Entry:
    """One row of the Trainer's arguments with ms-swift's default; where a row of its own has one, none."""
    if row.field in _SETTLED:
        return row._replace(default=SKIP)
    return row._replace(default=_DEFAULTS[row.field]) if row.field in _DEFAULTS else row


TABLE = (*_OWN, *(_trainer(row) for row in TRAINING_ARGUMENTS if (row.field, row.key) not in _REPLACED))

READER = Reader(
    name="ms-swift",
    title="ms-swift",
    dialect="pyyaml",
    table=TABLE,
    keys="ms-swift",
    coerces=True,
    packages=("ms-swift", "transformers", "peft", "trl"),
    observe=(observe_faults, observe_words),
    pins=pins,
    combine=settle,
)
