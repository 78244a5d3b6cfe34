"""verl (0.9.1 and b178a3cd read): Hydra configs; `model` and `optim` for SFT, `actor_rollout_ref` for RL.

A `lora_rank` of 0 trains everything. The Megatron engine has `model.lora` of its own, which wins while its rank is
above 0. `defaults` bring most keys, so that what a file lacks is unknown there.
Sources: verl trainer/config/**, trainer/main_ppo.py, trainer/fsdp_sft_trainer.py, workers/config.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import always, dtype, long_dtype, never, not_null, one_to_list
from loralint.frameworks.globs import read_globs, write_globs
from loralint.frameworks.hydra import filled_later, inherits
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Value
from loralint.source.document import Document

_SFT, _RL = "model.", "actor_rollout_ref.model."
_TASKS = {"grpo": "grpo", "rloo": "rloo", "gae": "ppo"}
_ADAPTER_KEYS = ("lora_rank", "lora_alpha", "target_modules", "exclude_modules", "lora.")


def _method(rank: object) -> object:
    """0 switches the adapter off."""
    if isinstance(rank, bool) or not isinstance(rank, (int, float)):
        return SKIP
    return "lora" if rank > 0 else "full"


def _megatron(rank: object) -> object:
    """A rank of 0 in the Megatron engine's section leaves the other key to decide."""
    return "lora" if isinstance(rank, int) and rank > 0 else SKIP


def _off(name: object) -> object:
    return 0 if name == "full" else SKIP


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _by_steps(off: str) -> Callable[[object], object]:
    return lambda number: "steps" if isinstance(number, (int, float)) and number > 0 else off


def _part(index: int) -> Callable[[object], object]:
    return lambda betas: betas[index] if isinstance(betas, list) and len(betas) == 2 else SKIP


def _last(path: object) -> object:
    return path.rpartition(".")[2].lower().lstrip("_") if isinstance(path, str) else SKIP


def _schedule(name: object) -> object:
    """Read a constant schedule as the one with a warm-up that verl makes of it."""
    return {"constant": "constant_with_warmup"}.get(str(name), str(name)) if name is not None else SKIP


def _sharded(strategy: object) -> object:
    return str(strategy).startswith("fsdp")


def _version(strategy: object) -> object:
    return {"fsdp": 1, "fsdp2": 2}.get(str(strategy), SKIP)


def _loss(estimator: object) -> object:
    return _TASKS.get(str(estimator), SKIP)


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _adapter_dtype(look: Look) -> object:
    """Give the dtype of the shards, to which the whole model is cast; fp32 unless somebody says otherwise."""
    return look.get("model.dtype").value or "fp32" if look.get("adapter.method").value == "lora" else SKIP


def _bf16(look: Look) -> object:
    return True if look.get("dist.fsdp").value is True else SKIP


def combine(document: Document, values: Values) -> Values:
    """Leave out the settings of an adapter that is off, and of the SFT model where RL trains another."""
    del document
    fields: dict[str, tuple[Value, ...]] = filled_later(values)
    method = values.get("adapter.method", ())
    if method and method[0].value == "full":
        inert = {field for field, several in values.items() if all(_adapter(one.key) for one in several)}
        fields |= dict.fromkeys(inert - {"adapter.method"}, ())
    elif method and ".lora." not in method[0].key:
        for field, several in values.items():
            kept = tuple(one for one in several if ".lora." not in one.key)
            fields |= {field: kept} if len(kept) != len(several) else {}
    return fields


def _adapter(key: str) -> bool:
    home = _RL if key.startswith(_RL) else _SFT
    return key.startswith(home) and key.removeprefix(home).startswith(_ADAPTER_KEYS)


def _model(home: str) -> tuple[Entry, ...]:
    """The rows of a model's section; the Megatron engine's adapter comes first, since it wins."""
    return (
        Entry("model.base", f"{home}path", not_null),
        Entry("model.trust_remote_code", f"{home}trust_remote_code", not_null),
        Entry("adapter.method", f"{home}lora.rank", _megatron, never),
        Entry("adapter.method", f"{home}lora_rank", _method, _off),
        Entry("adapter.rank", f"{home}lora.rank", _positive),
        Entry("adapter.rank", f"{home}lora_rank", _positive),
        Entry("adapter.alpha", f"{home}lora.alpha", not_null, never),
        Entry("adapter.alpha", f"{home}lora_alpha", not_null),
        Entry("adapter.dropout", f"{home}lora.dropout", not_null, never),
        Entry("adapter.targets", f"{home}lora.target_modules", read_globs, write_globs),
        Entry("adapter.targets", f"{home}target_modules", not_null),
        Entry("adapter.exclude", f"{home}exclude_modules", not_null),
        Entry("adapter.resume_from", f"{home}lora_adapter_path", not_null),
        Entry("memory.gradient_checkpointing", f"{home}enable_gradient_checkpointing", not_null),
        Entry("memory.activation_offload", f"{home}enable_activation_offload", not_null),
        Entry("data.padding_free", f"{home}use_remove_padding", not_null),
        Entry("kernel.liger", f"{home}use_liger", not_null),
    )


def _optimizer(home: str) -> tuple[Entry, ...]:
    return (
        Entry("optim.name", f"{home}optimizer", _last, never),
        Entry("optim.lr", f"{home}lr", not_null),
        Entry("optim.weight_decay", f"{home}weight_decay", not_null),
        Entry("optim.beta1", f"{home}betas", _part(0), never),
        Entry("optim.beta2", f"{home}betas", _part(1), never),
        Entry("optim.max_grad_norm", f"{home}clip_grad", not_null),
        Entry("schedule.name", f"{home}lr_scheduler_type", _schedule, not_null),
        Entry("schedule.name", f"{home}lr_scheduler", _schedule, never),
        Entry("schedule.name", f"{home}warmup_style", _schedule, never),
        Entry("schedule.warmup_steps", f"{home}lr_warmup_steps", _positive),
        Entry("schedule.warmup_ratio", f"{home}lr_warmup_steps_ratio", not_null),
        Entry("schedule.min_lr_ratio", f"{home}min_lr_ratio", not_null),
    )


TABLE = (
    *_model(_RL),
    *_model(_SFT),
    Entry("model.base", "model.partial_pretrain", not_null, never),
    Entry("model.dtype", "actor_rollout_ref.actor.fsdp_config.model_dtype", dtype, long_dtype),
    Entry("model.dtype", "model.fsdp_config.model_dtype", dtype, long_dtype),
    Entry("model.dtype", "engine.model_dtype", dtype, long_dtype),
    Entry("adapter.method", "", write=never, default="full"),
    Entry("adapter.alpha", "", write=never, default=_lora(16)),
    Entry("adapter.dropout", "", write=never, default=_lora(0.0)),
    Entry("adapter.targets", "", write=never, default=_lora("all-linear")),
    Entry("adapter.dtype", "", write=never, default=_adapter_dtype),
    Entry("quant.bits", "", write=never, default=16),
    # optimizer and schedule
    *_optimizer("actor_rollout_ref.actor.optim."),
    *_optimizer("optim."),
    # batch and length of the run
    Entry("batch.micro", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", not_null),
    Entry("batch.micro", "data.micro_batch_size_per_gpu", not_null),
    Entry("batch.global", "actor_rollout_ref.actor.ppo_mini_batch_size", not_null),
    Entry("batch.global", "data.train_batch_size", not_null),
    Entry("train.task", "algorithm.adv_estimator", _loss, lambda name: name if name in ("grpo", "rloo") else SKIP),
    Entry("train.task", "actor_rollout_ref", always("ppo"), never, "sft"),
    Entry("train.epochs", "trainer.total_epochs", not_null),
    Entry("train.max_steps", "trainer.total_training_steps", not_null),
    Entry("train.seed", "trainer.seed", not_null),
    Entry("train.report_to", "trainer.logger",
          lambda names: [name for name in one_to_list(names) if name != "console"]  # type: ignore[attr-defined]
          if isinstance(names, (str, list)) else SKIP, never),
    # precision: FSDP multiplies in bf16 unless told otherwise
    Entry("precision.bf16", "", write=never, default=_bf16),
    # data
    Entry("data.datasets", "data.train_files", one_to_list, never),
    Entry("data.eval_dataset", "data.val_files", lambda names: not_null(one_to_list(names)), never),
    Entry("data.sequence_len", "data.max_length", not_null),
    Entry("data.max_samples", "data.train_max_samples", _positive),
    # evaluation and checkpoints
    Entry("eval.strategy", "trainer.test_freq", _by_steps("no"), never),
    Entry("eval.steps", "trainer.test_freq", _positive),
    Entry("checkpoint.output_dir", "trainer.default_local_dir", not_null),
    Entry("checkpoint.save_strategy", "trainer.save_freq", _by_steps("no"), never),
    Entry("checkpoint.save_steps", "trainer.save_freq", _positive),
    Entry("checkpoint.save_total_limit", "trainer.max_ckpt_to_keep", not_null),
    Entry("checkpoint.save_total_limit", "trainer.max_actor_ckpt_to_keep", not_null),
    Entry("checkpoint.resume_from", "trainer.resume_from_path", not_null),
    # devices
    Entry("dist.fsdp", "actor_rollout_ref.actor.strategy", _sharded, never),
    Entry("dist.fsdp", "model.strategy", _sharded, never),
    Entry("dist.fsdp_version", "actor_rollout_ref.actor.strategy", _version, lambda number: {1: "fsdp", 2: "fsdp2"}.get(
        number if isinstance(number, int) else 0, SKIP)),
    Entry("dist.fsdp_version", "model.strategy", _version, never),
    Entry("dist.fsdp_offload", "actor_rollout_ref.actor.fsdp_config.param_offload", not_null),
    Entry("dist.fsdp_offload", "model.fsdp_config.cpu_offload", not_null),
    # RL
    Entry("pref.beta", "actor_rollout_ref.actor.kl_loss_coef", not_null),
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
    references=True,
    partial=inherits,
)
