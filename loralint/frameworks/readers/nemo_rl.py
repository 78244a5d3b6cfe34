"""NeMo-RL (0.7.0 read): `policy` and a section named after the algorithm, in files that build on others by `defaults`.

Two backends have their own adapters: `policy.dtensor_cfg.lora_cfg` (NeMo Automodel's) and `policy.megatron_cfg.peft`
(Megatron-Bridge's). Only those of the enabled backend count, and only while their own `enabled` is true.
Sources: NVIDIA-NeMo/RL 7ea279ab nemo_rl/{models/policy/__init__.py,models/automodel/setup.py,models/megatron/setup.py}.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import always, dtype, long_dtype, never, not_null, rope, true_for, when_true
from loralint.frameworks.lookup import find
from loralint.frameworks.readers.globs import all_but, read_globs, write_globs
from loralint.frameworks.readers.hydra import filled_later, inherits
from loralint.frameworks.readers.nemo_rl_defaults import (
    BY_TASK,
    FIELDS,
    by_optimizer,
    by_task,
    of_adapter,
    on_dtensor,
    with_scheduler,
)
from loralint.frameworks.readers.nemo_rl_faults import rejected
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Value
from loralint.source.document import Document, Node
from loralint.source.scalars import value

DTENSOR, MEGATRON = "policy.dtensor_cfg.", "policy.megatron_cfg."
_ADAPTERS = {DTENSOR: "policy.dtensor_cfg.lora_cfg.", MEGATRON: "policy.megatron_cfg.peft."}
_TASKS = {"sft": "sft", "dpo": "dpo", "grpo": "grpo", "rm": "rm", "ppo": "ppo", "distillation": "kd"}


def _method(enabled: object) -> object:
    return {True: "lora", False: "full"}.get(enabled, SKIP) if isinstance(enabled, bool) else SKIP


def _written_method(name: object) -> object:
    return {"lora": True, "full": False}.get(str(name), SKIP)


def _part(index: int) -> Callable[[object], object]:
    return lambda betas: betas[index] if isinstance(betas, list) and len(betas) == 2 else SKIP


def _last(path: object) -> object:
    return path.rpartition(".")[2].lower() if isinstance(path, str) else SKIP


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _by_steps(number: object) -> object:
    """Read a period of 0 as no evaluation."""
    return "steps" if isinstance(number, (int, float)) and number > 0 else "no"


def _names(datasets: object) -> object:
    several = datasets if isinstance(datasets, list) else [datasets]
    return [one.get("dataset_name") or one.get("data_path") for one in several if isinstance(one, dict)] or SKIP


def _precision(word: str) -> Callable[[object], object]:
    return lambda name: dtype(name) == word


def _lora_dtype(look: Look) -> object:
    """Give fp32, which NeMo-RL forces on the adapters of the DTensor backend."""
    return "fp32" if look.get("adapter.method").key.startswith(DTENSOR) else SKIP


def backend(root: Node) -> str:
    """The prefix of the enabled backend's keys; empty when this file alone does not tell."""
    switches = {one: _switch(root, f"{one}enabled") for one in (DTENSOR, MEGATRON)}
    for one, other in ((MEGATRON, DTENSOR), (DTENSOR, MEGATRON)):
        if switches[one] is True or (switches[other] is False and switches[one] is None):
            return one
    adapted = [one for one, keys in _ADAPTERS.items() if _switch(root, f"{keys}enabled") is True]
    return adapted[0] if len(adapted) == 1 else ""


def _switch(root: Node, key: str) -> bool | None:
    pair = find(root, key)
    made = value(pair.value, "omegaconf") if pair is not None and pair.value.kind == "scalar" else None
    return made if isinstance(made, bool) else None


def combine(document: Document, values: Values) -> Values:
    """Leave out the other backend's keys, and the parts of an adapter that is off."""
    assert document.root is not None
    chosen = backend(document.root)
    fields = {}
    for field, several in values.items():
        kept = tuple(one for one in several if _counts(one, chosen))
        if len(kept) != len(several):
            fields[field] = kept
    method = fields.get("adapter.method", values.get("adapter.method", ()))
    if method and method[0].value == "full":
        off = tuple(_ADAPTERS.values())
        inert = {field: () for field, several in values.items() if all(one.key.startswith(off) for one in several)}
        fields |= {field: empty for field, empty in inert.items() if field != "adapter.method"}
    if chosen != MEGATRON:
        fields |= with_scheduler(document, values)
    return {**filled_later(values), **fields}


def _counts(one: Value, chosen: str) -> bool:
    """Whether a value's key is the enabled backend's, or of neither; the optimizer at `policy` is DTensor's."""
    if one.key.startswith("policy.optimizer."):
        return chosen != MEGATRON
    return not one.key.startswith((DTENSOR, MEGATRON)) or (bool(chosen) and one.key.startswith(chosen))


def _adapter(keys: str) -> tuple[Entry, ...]:
    """The rows that both backends' adapters share; a dtype is Megatron's only, an empty list is every linear layer."""
    return (
        Entry("adapter.method", f"{keys}enabled", _method, _written_method),
        Entry("adapter.rank", f"{keys}dim", not_null),
        Entry("adapter.alpha", f"{keys}alpha", not_null),
        Entry("adapter.dropout", f"{keys}dropout", not_null),
        Entry("adapter.exclude", f"{keys}exclude_modules", read_globs, write_globs),
    )


def _algorithms(field: str, key: str, **columns: object) -> tuple[Entry, ...]:
    """The same key of each algorithm's section."""
    return tuple(Entry(field, f"{name}.{key}", **columns) for name in _TASKS)  # type: ignore[arg-type]


TABLE = (
    # the base model
    Entry("model.base", "policy.model_name", not_null),
    Entry("model.dtype", "policy.precision", dtype, long_dtype),
    Entry("model.max_position", "policy.hf_config_overrides.max_position_embeddings", not_null),
    Entry("model.rope_scaling", "policy.hf_config_overrides.rope_scaling", rope, never),
    # the adapter
    *_adapter(_ADAPTERS[DTENSOR]),
    *_adapter(_ADAPTERS[MEGATRON]),
    Entry("adapter.targets", "policy.dtensor_cfg.lora_cfg.match_all_linear", when_true("all-linear"),
          true_for("all-linear")),
    Entry("adapter.targets", "policy.dtensor_cfg.lora_cfg.target_modules", read_globs, write_globs),
    Entry("adapter.targets", "policy.dtensor_cfg.lora_cfg.exclude_modules", all_but, never),
    Entry("adapter.targets", "policy.megatron_cfg.peft.target_modules",
          lambda names: "all-linear" if names == [] else read_globs(names), write_globs),
    Entry("adapter.init", "policy.dtensor_cfg.lora_cfg.lora_A_init", not_null, never),
    Entry("adapter.init", "policy.megatron_cfg.peft.lora_A_init_method", not_null, never),
    Entry("adapter.dtype", "policy.megatron_cfg.peft.lora_dtype",
          lambda name: SKIP if name in (None, "None") else dtype(name), default=_lora_dtype),
    Entry("kernel.lora", "policy.dtensor_cfg.lora_cfg.use_triton", not_null),
    Entry("adapter.method", "", write=never, default="full"),
    Entry("adapter.rank", "", write=never, default=of_adapter(8)),
    Entry("adapter.alpha", "", write=never, default=of_adapter(32)),
    Entry("adapter.dropout", "", write=never, default=of_adapter(0.0)),
    Entry("adapter.init", "", write=never, default=of_adapter("xavier")),
    Entry("kernel.lora", "", write=never, default=of_adapter(answer=False)),
    Entry("quant.bits", "", write=never, default=16),
    # optimizer and schedule
    Entry("optim.name", "policy.optimizer.name", _last, never),
    Entry("optim.name", "policy.megatron_cfg.optimizer.optimizer", _last, never),
    Entry("optim.lr", "policy.optimizer.kwargs.lr", not_null),
    Entry("optim.lr", "policy.megatron_cfg.optimizer.lr", not_null),
    Entry("optim.weight_decay", "policy.optimizer.kwargs.weight_decay", not_null),
    Entry("optim.weight_decay", "policy.megatron_cfg.optimizer.weight_decay", not_null),
    Entry("optim.beta1", "policy.optimizer.kwargs.betas", _part(0), never),
    Entry("optim.beta1", "policy.megatron_cfg.optimizer.adam_beta1", not_null),
    Entry("optim.beta2", "policy.optimizer.kwargs.betas", _part(1), never),
    Entry("optim.beta2", "policy.megatron_cfg.optimizer.adam_beta2", not_null),
    Entry("optim.eps", "policy.optimizer.kwargs.eps", not_null),
    Entry("optim.eps", "policy.megatron_cfg.optimizer.adam_eps", not_null),
    *(Entry(field, "", write=never, default=by_optimizer(field)) for field in FIELDS),
    Entry("optim.max_grad_norm", "policy.max_grad_norm", not_null),
    Entry("schedule.name", "policy.megatron_cfg.scheduler.lr_decay_style", not_null),
    Entry("schedule.warmup_steps", "policy.megatron_cfg.scheduler.lr_warmup_iters", not_null),
    Entry("schedule.name", "", write=never, default=on_dtensor("constant")),
    Entry("schedule.warmup_steps", "", write=never, default=on_dtensor(0)),
    Entry("schedule.min_lr", "policy.megatron_cfg.optimizer.min_lr", not_null),
    # batch and length of the run
    Entry("batch.micro", "policy.train_micro_batch_size", not_null),
    Entry("batch.global", "policy.train_global_batch_size", not_null),
    *(Entry("train.task", name, always(task), never) for name, task in _TASKS.items()),
    *_algorithms("train.epochs", "max_num_epochs", read=not_null),
    *_algorithms("train.max_steps", "max_num_steps", read=not_null),
    *_algorithms("train.seed", "seed", read=not_null),
    *(Entry(field, "", write=never, default=by_task(field), when="nemo-rl>=0.7") for field in BY_TASK),
    # precision
    Entry("precision.bf16", "policy.precision", _precision("bf16"), lambda on: "bfloat16" if on is True else SKIP),
    Entry("precision.fp16", "policy.precision", _precision("fp16"), lambda on: "float16" if on is True else SKIP),
    # data
    Entry("data.datasets", "data.train", _names, never),
    Entry("data.eval_dataset", "data.validation", _names, never),
    Entry("data.sequence_len", "policy.max_total_sequence_length", not_null),
    Entry("data.packing", "policy.sequence_packing.enabled", not_null),
    Entry("data.template", "policy.tokenizer.chat_template", not_null),
    # evaluation and checkpoints
    *_algorithms("eval.strategy", "val_period", read=_by_steps, write=never),
    *_algorithms("eval.steps", "val_period", read=_positive),
    Entry("checkpoint.output_dir", "checkpointing.checkpoint_dir", not_null),
    Entry("checkpoint.save_strategy", "checkpointing.enabled", lambda on: "steps" if on is True else "no",
          lambda name: name != "no"),
    Entry("checkpoint.save_steps", "checkpointing.save_period", not_null),
    Entry("checkpoint.save_total_limit", "checkpointing.keep_top_k", not_null),
    Entry("checkpoint.metric", "checkpointing.metric_name", not_null),
    Entry("checkpoint.greater_is_better", "checkpointing.higher_is_better", not_null),
    # memory and devices
    Entry("memory.gradient_checkpointing", "policy.dtensor_cfg.activation_checkpointing", not_null),
    Entry("memory.gradient_checkpointing", "policy.megatron_cfg.activation_checkpointing", not_null),
    Entry("dist.fsdp_offload", "policy.dtensor_cfg.cpu_offload", not_null),
    Entry("dist.tensor_parallel", "policy.dtensor_cfg.tensor_parallel_size", not_null),
    Entry("dist.tensor_parallel", "policy.megatron_cfg.tensor_model_parallel_size", not_null),
    Entry("dist.tensor_parallel", "", write=never, default=on_dtensor(1)),
    Entry("dist.context_parallel", "policy.dtensor_cfg.context_parallel_size", not_null),
    Entry("dist.context_parallel", "policy.megatron_cfg.context_parallel_size", not_null),
    Entry("dist.context_parallel", "", write=never, default=on_dtensor(1)),
    # preference and RL
    Entry("pref.beta", "dpo.reference_policy_kl_penalty", not_null),
    Entry("pref.beta", "loss_fn.reference_policy_kl_penalty", not_null),
    Entry("rl.num_generations", "grpo.num_generations_per_prompt", not_null),
)  # fmt: skip

READER = Reader(
    name="nemo-rl",
    title="NeMo-RL",
    dialect="omegaconf",
    table=TABLE,
    keys="nemo-rl",
    coerces=False,
    packages=("nemo-rl", "nemo-automodel", "transformers", "torch"),
    observe=(rejected,),
    combine=combine,
    references=True,
    partial=inherits,
)
