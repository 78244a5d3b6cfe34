"""verl's RL trainers (0.9.1 and b178a3cd read): Hydra configs with everything trained below `actor_rollout_ref`.

A `lora_rank` of 0 trains everything. The Megatron engine has a `lora` section, which wins while its rank is above
0. `defaults` bring most keys, so that what a file lacks is unknown there. The SFT trainer's homes are in verl_sft.
Sources: verl trainer/config/**, trainer/main_ppo.py, trainer/fsdp_sft_trainer.py, workers/engine/fsdp.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, dtype_for, is_dtype, long_dtype, never, not_null, one_to_list, rope
from loralint.frameworks.readers.globs import read_globs
from loralint.frameworks.readers.hydra import filled_later, inherits
from loralint.frameworks.readers.verl_faults import observe_batches
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Value
from loralint.source.document import Document

_TASKS = {"grpo": "grpo", "rloo": "rloo", "gae": "ppo"}
_FSDP_KEYS = ("lora_rank", "lora_alpha", "target_modules", "exclude_modules")
_MEGATRON_KEYS = ("lora.rank", "lora.alpha", "lora.dropout", "lora.target_modules")
_MEGATRON_TARGETS = ["linear_qkv", "linear_proj", "linear_fc1", "linear_fc2"]


def _method(rank: object) -> object:
    """0 switches the adapter off; a text is meant for a rank."""
    if isinstance(rank, bool) or not isinstance(rank, (int, float, str)):
        return SKIP
    return "lora" if isinstance(rank, str) or rank > 0 else "full"


def _megatron(rank: object) -> object:
    """A rank of 0 in the Megatron engine's section leaves the other key to decide."""
    return "lora" if isinstance(rank, int) and rank > 0 else SKIP


def _sized(name: object) -> object:
    """Write the rank that switches the adapter off, or one that is usual."""
    return {"full": 0, "lora": 16}.get(str(name), SKIP)


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _size(rank: object) -> object:
    return rank if isinstance(rank, str) else _positive(rank)


def _by_steps(number: object) -> object:
    """Read -1 as never."""
    return "steps" if isinstance(number, (int, float)) and number > 0 else "no"


def _part(index: int) -> Callable[[object], object]:
    return lambda betas: betas[index] if isinstance(betas, list) and len(betas) == 2 else SKIP


def _last(path: object) -> object:
    return path.rpartition(".")[2].lower().lstrip("_") if isinstance(path, str) else SKIP


def _schedule(name: object) -> object:
    """Read a constant schedule as the one with a warm-up that verl makes of it."""
    return {"constant": "constant_with_warmup"}.get(str(name), str(name)) if name is not None else SKIP


def _written_schedule(name: object) -> object:
    return {"constant_with_warmup": "constant"}.get(str(name), name)


def _version(strategy: object) -> object:
    return {"fsdp": 1, "fsdp2": 2}.get(str(strategy), SKIP)


def _written_version(number: object) -> object:
    return {1: "fsdp", 2: "fsdp2"}.get(number, SKIP) if isinstance(number, int) else SKIP


def _trackers(names: object) -> object:
    several = one_to_list(names)
    return [name for name in several if name != "console"] if isinstance(several, list) else SKIP


def _by_engine(fsdp: object, megatron: object) -> Callable[[Look], object]:
    """Default of an adapter's setting in the engine whose rank is above 0."""

    def default(look: Look) -> object:
        method = look.get("adapter.method")
        return (megatron if ".lora." in method.key else fsdp) if method.value == "lora" else SKIP

    return default


def _adapter_dtype(look: Look) -> object:
    """Give the dtype of the shards, to which the whole model is cast; fp32 unless somebody says otherwise."""
    return look.get("model.dtype").value or "fp32" if look.get("adapter.method").value == "lora" else SKIP


def _bf16(look: Look) -> object:
    """FSDP multiplies in bf16 unless somebody says otherwise."""
    return True if look.get("dist.fsdp").value is True else SKIP


def _by_fsdp(look: Look) -> object:
    """Give the optimizer of FSDP, torch's unless somebody names another; Megatron has its own."""
    return "adamw" if look.get("dist.fsdp").value is True else SKIP


def combine(document: Document, values: Values) -> Values:
    """Leave out the settings of an adapter that is off, and those of the engine that has none."""
    del document
    fields: dict[str, tuple[Value, ...]] = filled_later(values)
    method = values.get("adapter.method", ())
    if not method or method[0].value not in ("lora", "full"):
        return fields
    off: tuple[str, ...] = (*_FSDP_KEYS, *_MEGATRON_KEYS)
    if method[0].value == "lora":
        off = _FSDP_KEYS if ".lora." in method[0].key else _MEGATRON_KEYS
    for field, several in values.items():
        kept = tuple(one for one in several if not one.key.endswith(tuple(f"model.{key}" for key in off)))
        if len(kept) != len(several) and field != "adapter.method":
            fields[field] = kept
    return fields


def model(home: str) -> tuple[Entry, ...]:
    """The rows of a model's section; the Megatron engine's adapter comes first, since it wins."""
    return (
        Entry("model.base", f"{home}path", not_null),
        Entry("model.trust_remote_code", f"{home}trust_remote_code", not_null),
        Entry("model.max_position", f"{home}override_config.max_position_embeddings", not_null),
        Entry("model.rope_scaling", f"{home}override_config.rope_scaling", rope, never),
        Entry("adapter.method", f"{home}lora.rank", _megatron, never),
        Entry("adapter.method", f"{home}lora_rank", _method, _sized, "full"),
        Entry("adapter.rank", f"{home}lora.rank", _positive),
        Entry("adapter.rank", f"{home}lora_rank", _size),
        Entry("adapter.alpha", f"{home}lora.alpha", not_null, never),
        Entry("adapter.alpha", f"{home}lora_alpha", not_null, default=_by_engine(16, 32)),
        Entry("adapter.dropout", f"{home}lora.dropout", not_null, default=_by_engine(0.0, 0.0)),
        Entry("adapter.targets", f"{home}lora.target_modules", read_globs, never),
        Entry(
            "adapter.targets", f"{home}target_modules", not_null, default=_by_engine("all-linear", _MEGATRON_TARGETS)
        ),
        Entry("adapter.exclude", f"{home}exclude_modules", not_null),
        Entry("adapter.dtype", "", write=never, default=_adapter_dtype),
        Entry("adapter.resume_from", f"{home}lora_adapter_path", not_null),
        Entry("quant.bits", "", write=never, default=16),
        Entry("data.padding_free", f"{home}use_remove_padding", not_null),
        Entry("memory.gradient_checkpointing", f"{home}enable_gradient_checkpointing", not_null),
        Entry("memory.activation_offload", f"{home}enable_activation_offload", not_null),
        Entry("kernel.liger", f"{home}use_liger", not_null),
    )


def optimizer(home: str) -> tuple[Entry, ...]:
    """The rows of an optimizer's section; the schedule has had three names."""
    return (
        Entry("optim.name", f"{home}optimizer", _last, never, _by_fsdp),
        Entry("optim.lr", f"{home}lr", not_null),
        Entry("optim.weight_decay", f"{home}weight_decay", not_null),
        Entry("optim.beta1", f"{home}betas", _part(0), never),
        Entry("optim.beta2", f"{home}betas", _part(1), never),
        Entry("optim.max_grad_norm", f"{home}clip_grad", not_null),
        Entry("schedule.name", f"{home}lr_scheduler_type", _schedule, _written_schedule),
        Entry("schedule.name", f"{home}lr_scheduler", _schedule, never),
        Entry("schedule.name", f"{home}warmup_style", _schedule, never),
        Entry("schedule.warmup_steps", f"{home}lr_warmup_steps", _positive),
        Entry("schedule.warmup_ratio", f"{home}lr_warmup_steps_ratio", not_null),
        Entry("schedule.min_lr_ratio", f"{home}min_lr_ratio", not_null),
    )


def precision(config: str) -> tuple[Entry, ...]:
    """The rows of the dtype that FSDP multiplies in, by both names that it has had."""
    keys = (f"{config}dtype", f"{config}mixed_precision.param_dtype")
    return (
        *(Entry("precision.bf16", key, is_dtype("bf16"), dtype_for("bf16"), _bf16) for key in keys),
        *(Entry("precision.fp16", key, is_dtype("fp16"), dtype_for("fp16")) for key in keys),
    )


def sharding(strategy: str, config: str) -> tuple[Entry, ...]:
    """The rows of the key that names the strategy and of the section that configures it."""
    return (
        Entry("model.dtype", f"{config}model_dtype", dtype, long_dtype),
        *precision(config),
        Entry("dist.fsdp", strategy, lambda name: str(name).startswith("fsdp"), never, default=True),
        Entry("dist.fsdp_version", strategy, _version, _written_version),
        Entry("dist.fsdp_offload", f"{config}param_offload", not_null),
    )


TRAINER = (
    Entry("train.epochs", "trainer.total_epochs", not_null),
    Entry("train.max_steps", "trainer.total_training_steps", not_null),
    Entry("train.seed", "trainer.seed", not_null),
    Entry("train.report_to", "trainer.logger", _trackers, never),
    Entry("data.datasets", "data.train_files", one_to_list, never),
    Entry("data.eval_dataset", "data.val_files", lambda names: not_null(one_to_list(names)), never),
    Entry("data.max_samples", "data.train_max_samples", _positive),
    Entry("eval.strategy", "trainer.test_freq", _by_steps, never),
    Entry("eval.steps", "trainer.test_freq", _positive),
    Entry("checkpoint.output_dir", "trainer.default_local_dir", not_null),
    Entry("checkpoint.save_strategy", "trainer.save_freq", _by_steps, never),
    Entry("checkpoint.save_steps", "trainer.save_freq", _positive),
    Entry("checkpoint.resume_from", "trainer.resume_from_path", not_null),
)
_ACTOR = "actor_rollout_ref.actor."
TABLE = (
    *model("actor_rollout_ref.model."),
    *optimizer(f"{_ACTOR}optim."),
    *sharding(f"{_ACTOR}strategy", f"{_ACTOR}fsdp_config."),
    *TRAINER,
    Entry("batch.micro", f"{_ACTOR}ppo_micro_batch_size_per_gpu", not_null),
    Entry("batch.global", f"{_ACTOR}ppo_mini_batch_size", not_null),
    Entry("train.task", "algorithm.adv_estimator", lambda name: _TASKS.get(str(name), SKIP),
          lambda task: task if task in ("grpo", "rloo") else SKIP),
    Entry("checkpoint.save_total_limit", "trainer.max_actor_ckpt_to_keep", not_null),
    Entry("pref.beta", f"{_ACTOR}kl_loss_coef", not_null),
    Entry("rl.num_generations", "actor_rollout_ref.rollout.n", not_null),
    Entry("rl.reward_model", "reward_model.model.path", not_null),
)  # fmt: skip

READER = Reader(
    name="verl",
    title="verl",
    dialect="omegaconf",
    table=TABLE,
    keys="verl",
    coerces=False,
    packages=("verl", "transformers", "peft", "torch"),
    combine=combine,
    observe=(observe_batches,),
    references=True,
    partial=inherits,
)
