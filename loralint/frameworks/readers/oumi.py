"""oumi (0.9 read): `model`, `data`, `training`, `peft`, `fsdp` and `deepspeed`, read by OmegaConf into typed classes.

`training.use_peft` decides the method, whatever `peft` says. A base is quantised by `peft.q_lora`, then in fp4 with
fp32 products unless told otherwise. Without `mixed_precision_dtype` the run computes in the dtype of the weights.
Sources: oumi 0.9 core/configs/**, builders/models.py, train.py; OmegaConf 2.4.0.dev4 nodes.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, long_dtype, lower, never, not_null, rope, true_for, when_true, words
from loralint.frameworks.readers.oumi_faults import rejected
from loralint.frameworks.readers.training_arguments import SHARES
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_TASKS = {
    "trl_sft": "sft", "trl_dpo": "dpo", "trl_kto": "kto", "trl_grpo": "grpo", "trl_gkd": "kd", "trl_gold": "kd",
    "verl_grpo": "grpo", "hf": "sft", "oumi": "sft",
}  # fmt: skip
_TRAINERS = {"sft": "TRL_SFT", "dpo": "TRL_DPO", "kto": "TRL_KTO", "grpo": "TRL_GRPO", "kd": "TRL_GKD"}
_INITS = {"default": "true", "random": "false", "pisa": "pissa"}
_MIXES = {"first_exhausted": "interleave_under", "all_exhausted": "interleave_over"}
_MIXED = {canonical: word for word, canonical in _MIXES.items()}
_FULL_PRECISION = 16
_TRL_LENGTH = 1024  # tokens, TRL's default since 0.17


def enum(mapping: dict[str, str]) -> Callable[[object], object]:
    """Read an enumeration's member, with or without its class before it."""
    return lambda name: mapping.get(str(name).rpartition(".")[2].lower(), SKIP)


def _task(name: object) -> object:
    return enum(_TASKS)(name)


def _method(switch: object) -> object:
    """Read the switch; OmegaConf takes yes and on in quotes too."""
    return {"true": "lora", "yes": "lora", "on": "lora", "false": "full", "no": "full", "off": "full"}.get(
        str(switch).lower(), SKIP
    )


def _written_method(name: object) -> object:
    return {"lora": True, "full": False}.get(str(name), SKIP)


def targets(names: object) -> object:
    """Read `[all-linear]`, which oumi unpacks; a list is all that the type allows."""
    return "all-linear" if names == ["all-linear"] else not_null(names)


def written_targets(names: object) -> object:
    """Write the word as a list of one; a regular expression cannot be said."""
    return ["all-linear"] if names == "all-linear" else names if isinstance(names, list) else SKIP


def _excluded(patterns: object) -> object:
    """Join the patterns as oumi does: PEFT then matches them against whole paths."""
    return "|".join(f"({one})" for one in patterns) if isinstance(patterns, list) and patterns else SKIP


def _init(name: object) -> object:
    word = str(name).rpartition(".")[2].lower()
    return _INITS.get(word, word) if name is not None else SKIP


def _clip(norm: object) -> object:
    """Read a null as off, which Transformers writes as 0."""
    return 0.0 if norm is None else norm


def _names(datasets: object) -> object:
    """Read the datasets' names, or the paths of local ones."""
    if not isinstance(datasets, list):
        return SKIP
    return [one.get("dataset_path") or one.get("dataset_name") for one in datasets if isinstance(one, dict)] or SKIP


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _off(number: object) -> object:
    """Read a step count of 0 or less as no saving by steps."""
    return "no" if isinstance(number, (int, float)) and number <= 0 else "steps"


def _mixed(word: str) -> Callable[[object], object]:
    return lambda name: str(name).rpartition(".")[2].lower() == word


def _completions(name: object) -> object:
    """Tell the collators that mask the prompt."""
    return False if isinstance(name, str) and "completions_only" in name else SKIP


def _quantised(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _by_trl(look: Look) -> bool:
    """Whether one of TRL's trainers trains; the default is Transformers' own."""
    return "TRL" in (look.get("train.task").text or "")


def _adapter_dtype(look: Look) -> object:
    """Give fp32 as PEFT does; over a quantised base TRL casts to bf16, and FSDP coerces to the model's dtype."""
    if look.get("adapter.method").value != "lora":
        return SKIP
    if look.get("quant.bits").value == _FULL_PRECISION:
        return "fp32"
    if look.get("dist.fsdp").value is True:
        return look.get("model.dtype").value
    return "bf16" if _by_trl(look) and look.version_is("trl>=0.26") else "fp32"


def _length(look: Look) -> object:
    return _TRL_LENGTH if _by_trl(look) and look.get("train.task").value in ("sft", "dpo") else SKIP


def _reentrant(look: Look) -> object:
    on = look.get("memory.gradient_checkpointing").value is True
    return not look.version_is(SHARES) if on else SKIP


def _stage(name: object) -> object:
    word = str(name).rpartition("_")[2]
    return int(word) if word in ("0", "1", "2", "3") else SKIP


def combine(document: Document, values: Values) -> Values:
    """Leave out what a switch that is off leaves out, and settle how checkpoints are written."""
    del document
    fields: dict[str, tuple[Value, ...]] = {}
    method = values.get("adapter.method", ())
    full = not method or method[0].value == "full"
    switch = next((one for one in values.get("quant.bits", ()) if one.key == "peft.q_lora"), None)
    if "quant.bits" in values and (full or switch is None):
        fields["quant.bits"] = fields["quant.method"] = ()
    elif switch is not None:
        fields["quant.bits"] = (_bits(switch, values["quant.bits"]),)
    if "dist.zero_stage" in values and "dist.deepspeed" not in values:
        fields["dist.zero_stage"] = ()
    return fields


def _bits(switch: Value, rows: tuple[Value, ...]) -> Value:
    """`q_lora` says whether, `q_lora_bits` how many."""
    if isinstance(switch.value, Unknown) or switch.value == _FULL_PRECISION:
        return switch
    return next((one for one in rows if one.key == "peft.q_lora_bits"), switch)


TABLE = (
    # the base model
    Entry("model.base", "model.model_name", not_null),
    Entry("model.dtype", "model.torch_dtype_str", dtype, long_dtype, "auto"),
    Entry("model.max_position", "model.model_kwargs.max_position_embeddings", not_null),
    Entry("model.rope_scaling", "model.model_kwargs.rope_scaling", rope, never),
    Entry("model.attention", "model.attn_implementation", not_null),
    Entry("model.trust_remote_code", "model.trust_remote_code", not_null, default=False),
    # the adapter
    Entry("adapter.method", "training.use_peft", _method, _written_method, "full"),
    Entry("adapter.rank", "peft.lora_r", not_null, default=_lora(8)),
    Entry("adapter.alpha", "peft.lora_alpha", not_null, default=_lora(8)),
    Entry("adapter.dropout", "peft.lora_dropout", not_null, default=_lora(0.0)),
    Entry("adapter.bias", "peft.lora_bias", not_null, default=_lora("none")),
    Entry("adapter.targets", "peft.lora_target_modules", targets, written_targets),
    Entry("adapter.target_parameters", "peft.lora_target_parameters", lambda names: names or SKIP),
    Entry("adapter.exclude", "peft.lora_exclude_modules", _excluded, never),
    Entry("adapter.modules_to_save", "peft.lora_modules_to_save", not_null),
    Entry("adapter.init", "peft.lora_init_weights", _init, never, _lora("true")),
    Entry("adapter.task_type", "peft.lora_task_type", not_null, default=_lora("CAUSAL_LM")),
    Entry("adapter.dtype", "", write=never, default=_adapter_dtype),
    Entry("adapter.resume_from", "model.adapter_model", not_null),
    Entry("adapter.merge_on_save", "peft.peft_save_mode", _mixed("merged"), lambda on: "MERGED" if on else SKIP),
    # quantisation of the base
    Entry("quant.bits", "peft.q_lora", words({True: 4, False: _FULL_PRECISION}),
          lambda number: {4: True, _FULL_PRECISION: False}.get(number, SKIP) if isinstance(number, int) else SKIP,
          _FULL_PRECISION),
    Entry("quant.bits", "peft.q_lora_bits", not_null, lambda number: number if number in (4, 8) else SKIP),
    Entry("quant.method", "peft.q_lora", when_true("bnb"), never),
    Entry("quant.type", "peft.bnb_4bit_quant_type", lower, default=_quantised("fp4")),
    Entry("quant.double", "peft.use_bnb_nested_quant", not_null, default=_quantised(answer=False)),
    Entry("quant.compute_dtype", "peft.bnb_4bit_compute_dtype", dtype, long_dtype, _quantised("fp32")),
    Entry("quant.storage_dtype", "peft.bnb_4bit_quant_storage", dtype, long_dtype, _quantised("uint8")),
    # optimizer and schedule
    Entry("optim.name", "training.optimizer", lower, default="adamw_torch"),
    Entry("optim.lr", "training.learning_rate", not_null, default=5e-5),
    Entry("optim.weight_decay", "training.weight_decay", not_null, default=0.0),
    Entry("optim.beta1", "training.adam_beta1", not_null, default=0.9),
    Entry("optim.beta2", "training.adam_beta2", not_null, default=0.999),
    Entry("optim.eps", "training.adam_epsilon", not_null, default=1e-8),
    Entry("optim.momentum", "training.sgd_momentum", _positive),
    Entry("optim.max_grad_norm", "training.max_grad_norm", _clip, default=1.0),
    Entry("schedule.name", "training.lr_scheduler_type", lower, default="linear"),
    Entry("schedule.warmup_steps", "training.warmup_steps", not_null, default=0),
    Entry("schedule.warmup_ratio", "training.warmup_ratio", not_null, default=0.0),
    Entry("schedule.min_lr", "training.lr_scheduler_kwargs.min_lr", not_null),
    Entry("schedule.min_lr_ratio", "training.lr_scheduler_kwargs.min_lr_rate", not_null),
    # batch and length of the run
    Entry("batch.micro", "training.per_device_train_batch_size", not_null, default=8),
    Entry("batch.accumulation", "training.gradient_accumulation_steps", not_null, default=1),
    Entry("batch.eval_micro", "training.per_device_eval_batch_size", not_null, default=8),
    Entry("train.task", "training.trainer_type", _task, lambda task: _TRAINERS.get(str(task), SKIP), "sft"),
    Entry("train.epochs", "training.num_train_epochs", not_null, default=3),
    Entry("train.max_steps", "training.max_steps", not_null, default=-1),
    Entry("train.seed", "training.seed", not_null, default=42),
    Entry("train.neftune_alpha", "training.trainer_kwargs.neftune_noise_alpha", not_null),
    Entry("train.report_to", "training.enable_wandb", when_true(["wandb"]), true_for(["wandb"])),
    Entry("train.report_to", "training.enable_mlflow", when_true(["mlflow"]), true_for(["mlflow"])),
    Entry("train.report_to", "training.enable_tensorboard", words({True: ["tensorboard"], False: []}),
          words({}), ["tensorboard"]),
    Entry("train.logging_steps", "training.logging_steps", not_null, default=50),
    # precision
    Entry("precision.bf16", "training.mixed_precision_dtype", _mixed("bf16"), lambda on: "BF16" if on else SKIP, False),
    Entry("precision.fp16", "training.mixed_precision_dtype", _mixed("fp16"), lambda on: "FP16" if on else SKIP, False),
    # data
    Entry("data.datasets", "data.train.datasets", _names, never),
    Entry("data.eval_dataset", "data.validation.datasets", _names, never),
    Entry("data.sequence_len", "model.model_max_length", not_null, default=_length),
    Entry("data.packing", "data.train.pack", not_null, default=False),
    Entry("data.streaming", "data.train.stream", not_null, default=False),
    Entry("data.train_on_inputs", "data.train.collator_name", _completions, never),
    Entry("data.train_on_inputs", "data.train.train_target", lambda name: SKIP if name is None else False, never),
    Entry("data.mask_history", "data.train.train_target", _mixed("final_assistant_turn"), never),
    Entry("data.template", "model.chat_template", not_null),
    Entry("data.mix_strategy", "data.train.mixture_strategy", enum(_MIXES),
          lambda name: _MIXED.get(str(name), SKIP)),
    # evaluation and checkpoints
    Entry("eval.strategy", "training.eval_strategy", lambda name: "no" if name is False else lower(name), default="no"),
    Entry("eval.steps", "training.eval_steps", not_null,
          default=lambda look: 500 if look.get("eval.strategy").value == "steps" else SKIP),
    Entry("checkpoint.output_dir", "training.output_dir", not_null, default="output"),
    Entry("checkpoint.save_strategy", "training.save_epoch", when_true("epoch"), true_for("epoch")),
    Entry("checkpoint.save_strategy", "training.save_steps", _off, never, "steps"),
    Entry("checkpoint.save_steps", "training.save_steps", _positive,
          default=lambda look: 500 if look.get("checkpoint.save_strategy").origin == "default" else SKIP),
    Entry("checkpoint.resume_from", "training.resume_from_checkpoint", not_null),
    # memory, devices, kernels
    Entry("memory.gradient_checkpointing", "training.enable_gradient_checkpointing", not_null, default=False),
    Entry("memory.reentrant", "training.gradient_checkpointing_kwargs.use_reentrant", not_null, default=_reentrant),
    Entry("dist.deepspeed", "deepspeed.enable_deepspeed", when_true("oumi's own"), never),
    Entry("dist.zero_stage", "deepspeed.zero_stage", _stage, lambda stage: f"ZERO_{stage}"),
    Entry("dist.fsdp", "fsdp.enable_fsdp", not_null, default=False),
    Entry("dist.fsdp_wrap_class", "fsdp.transformer_layer_cls", not_null),
    Entry("dist.fsdp_use_orig_params", "fsdp.use_orig_params", not_null),
    Entry("dist.fsdp_offload", "fsdp.cpu_offload", not_null, default=False),
    Entry("dist.device_map", "model.device_map", not_null, default="auto"),
    Entry("dist.ddp_find_unused", "training.ddp_find_unused_parameters", not_null),
    Entry("kernel.liger", "model.enable_liger_kernel", not_null, default=False),
    Entry("kernel.compile", "training.compile", not_null, default=False),
    # preference and RL
    Entry("pref.beta", "training.trainer_kwargs.beta", not_null,
          default=lambda look: 0.1 if look.get("train.task").value in ("dpo", "kto") else SKIP),
    Entry("pref.loss", "training.trainer_kwargs.loss_type", lower,
          default=lambda look: "sigmoid" if look.get("train.task").value == "dpo" else SKIP),
    Entry("rl.num_generations", "training.grpo.num_generations", not_null),
)  # fmt: skip

READER = Reader(
    name="oumi",
    title="oumi",
    dialect="omegaconf",
    table=TABLE,
    keys="oumi",
    coerces=True,
    packages=("oumi", "transformers", "trl", "peft"),
    observe=(rejected,),
    combine=combine,
)
