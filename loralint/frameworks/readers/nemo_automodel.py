"""NeMo Automodel (0.7.0 read): sections of `_target_` and its arguments, loaded by PyYAML.

Every text goes through `translate_value`: `none` and `true` become what they say, `1e-5` a number. A `peft` section
means LoRA, none means that everything trains. Patterns of modules match whole paths; without any it is `*_proj`.
Sources: nemo-automodel 0.7.0 components/{_peft,optim,training,checkpoint,quantization,config}, recipes/llm/train_ft.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import (
    always,
    dtype,
    dtype_for,
    is_dtype,
    long_dtype,
    lower,
    never,
    one_to_list,
    rope,
    true_for,
    when_true,
)
from loralint.frameworks.readers.globs import all_but, read_globs, write_globs
from loralint.frameworks.readers.nemo_automodel_faults import foreign, ignored, rejected, unmatched
from loralint.frameworks.table import SKIP, Entry, Look, Reader
from loralint.model import Unknown

Convert = Callable[[object], object]

_NULLS = ("none", "None", None)
_STYLES = {"wsd": "warmup_stable_decay", "inverse-square-root": "inverse_sqrt"}
_WRITTEN_STYLES = {canonical: word for word, canonical in _STYLES.items()}
_POLICY = "distributed.mp_policy."
_WARMUP_MOST = 1000  # steps of warm-up that a scheduler without `lr_warmup_steps` takes at most


def present(value: object) -> object:
    """Read a value, but none of the words for null; the words for true and false are what they say."""
    if isinstance(value, (str, int, type(None))) and value in _NULLS:
        return SKIP
    return (
        {"true": True, "True": True, "false": False, "False": False}.get(value, value)
        if isinstance(value, str)
        else value
    )


def _then(convert: Convert) -> Convert:
    """Convert what is not null."""
    return lambda value: SKIP if present(value) is SKIP else convert(present(value))


def _method(section: object) -> object:
    return "lora" if isinstance(section, dict) else "full"


def _switch(on: object, off: object = SKIP) -> Convert:
    return _then(lambda value: on if value is True else off if value is False else SKIP)


def _part(index: int) -> Convert:
    return lambda betas: betas[index] if isinstance(betas, list) and len(betas) == 2 else SKIP


def _last(path: object) -> object:
    """`torch.optim.AdamW` -> `adamw`."""
    return path.rpartition(".")[2].lower() if isinstance(path, str) else SKIP


def _class(path: object) -> object:
    """The class of `nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained`."""
    names = path.split(".") if isinstance(path, str) else []
    return next((name for name in names if "AutoModel" in name), SKIP)


def _style(name: object) -> object:
    return _STYLES.get(str(name).lower(), str(name).lower())


def _section(key: str, default: object) -> Convert:
    """What a section means that stands there without one of its keys."""
    return lambda section: default if isinstance(section, dict) and key not in section else SKIP


def _task(recipe: object) -> object:
    name = str(recipe).rpartition(".")[2]
    if "SequenceClassification" in name:
        return "cls"
    if "KnowledgeDistillation" in name:
        return "kd"
    if "Pretrain" in name:
        return "pt"
    if name.startswith(("TrainFinetune", "FinetuneRecipeForVLM", "Benchmarking")):
        return "sft"
    return Unknown(f"what `{name}` trains is not known")


def _sharded(strategy: object) -> object:
    return "fsdp" in str(strategy).lower()


def _checkpointing(mode: object) -> object:
    """Read the modes, of which `full` and `selective` both recompute."""
    word = str(mode).lower().replace("-", "_")
    return word in {"true", "on", "full", "enabled", "yes", "selective"}


def _tracked(section: object) -> object:
    return ["wandb"] if isinstance(section, dict) and section.get("enable", True) is not False else []


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _of_4bit(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


def _torch(adamw: object, adam: object) -> Callable[[Look], object]:
    """Default of an argument that torch's optimizer has when the file lacks it."""
    return lambda look: {"adamw": adamw, "adam": adam}.get(str(look.get("optim.name").value), SKIP)


def _adapter_dtype(look: Look) -> object:
    """Give that of the weights, or of the products where those are quantised."""
    if look.get("adapter.method").value != "lora":
        return SKIP
    if look.get("quant.bits").value == 4:
        return look.get("quant.compute_dtype").value
    base = look.get("model.dtype").value
    return Unknown("the adapter takes the dtype of the checkpoint") if base == "auto" else base


def _warmup(look: Look) -> object:
    """Give a tenth of the run, which is known where `max_steps` is; without a scheduler there is none."""
    if look.get("schedule.name").value == "constant":
        return 0
    steps = look.get("train.max_steps").value
    if isinstance(steps, int):
        return min(_WARMUP_MOST, steps // 10)
    return Unknown("the warm-up is a tenth of the run, whose length is not known")


def _bf16(look: Look) -> object:
    """FSDP2 multiplies in bf16 unless `mp_policy` says otherwise."""
    return True if look.get("dist.fsdp").value is True else SKIP


TABLE = (
    # the base model
    Entry("model.base", "model.pretrained_model_name_or_path", present),
    Entry("model.base", "model.config.pretrained_model_name_or_path", present, never),
    Entry("model.base", "model.config", lambda name: present(name) if isinstance(name, str) else SKIP, never),
    Entry("model.class", "model._target_", _class, never),
    Entry("model.dtype", "model.torch_dtype", _then(dtype), long_dtype, "auto"),
    Entry("model.max_position", "model.max_position_embeddings", present),
    Entry("model.max_position", "model.config.max_position_embeddings", present, never),
    *(Entry("model.rope_scaling", f"model.{key}", rope, never) for key in ("rope_scaling", "config.rope_scaling")),
    Entry("model.attention", "model.attn_implementation", present),
    Entry("model.trust_remote_code", "model.trust_remote_code", present),
    Entry("model.freeze_vision", "freeze_config.freeze_vision_tower", present),
    Entry("model.freeze_language", "freeze_config.freeze_language_model", present),
    # the adapter
    Entry("adapter.method", "peft", _method, never, "full"),
    Entry("adapter.rank", "peft.dim", present, default=_lora(8)),
    Entry("adapter.alpha", "peft.alpha", present, default=_lora(32)),
    Entry("adapter.dropout", "peft.dropout", present, default=_lora(0.0)),
    Entry("adapter.targets", "peft.match_all_linear", when_true("all-linear"), true_for("all-linear")),
    Entry("adapter.targets", "peft.target_modules", _then(read_globs), write_globs),
    Entry("adapter.targets", "peft.exclude_modules", _then(all_but), never, _lora(".*_proj")),
    Entry("adapter.exclude", "peft.exclude_modules", _then(read_globs), write_globs),
    Entry("adapter.dora", "peft.use_dora", present, default=_lora(answer=False)),
    Entry("adapter.init", "peft.lora_A_init", lambda name: "xavier" if name == "xavier" else "true",
          lambda name: {"xavier": "xavier", "true": "uniform"}.get(str(name), SKIP), _lora("xavier")),
    Entry("adapter.dtype", "peft.lora_dtype", _then(dtype), long_dtype, _adapter_dtype),
    Entry("kernel.lora", "peft.use_triton", present, default=_lora(answer=False)),
    # quantisation of the base
    Entry("quant.bits", "quantization.load_in_4bit", when_true(4), true_for(4)),
    Entry("quant.bits", "quantization.load_in_8bit", when_true(8), true_for(8), 16),
    Entry("quant.method", "quantization.load_in_4bit", when_true("bnb"), never),
    Entry("quant.method", "quantization.load_in_8bit", when_true("bnb"), never),
    Entry("quant.type", "quantization.bnb_4bit_quant_type", present, default=_of_4bit("nf4")),
    Entry("quant.double", "quantization.bnb_4bit_use_double_quant", present, default=_of_4bit(answer=True)),
    Entry("quant.compute_dtype", "quantization.bnb_4bit_compute_dtype", _then(dtype), long_dtype, _of_4bit("bf16")),
    Entry("quant.storage_dtype", "quantization.bnb_4bit_quant_storage", _then(dtype), long_dtype, _of_4bit("bf16")),
    # optimizer and schedule
    Entry("optim.name", "optimizer._target_", _last, never),
    Entry("optim.lr", "lr_scheduler.max_lr", present, never),
    Entry("optim.lr", "optimizer.lr", present, default=_torch(1e-3, 1e-3)),
    Entry("optim.weight_decay", "optimizer.weight_decay", present, default=_torch(0.01, 0.0)),
    Entry("optim.beta1", "optimizer.betas", _part(0), never, _torch(0.9, 0.9)),
    Entry("optim.beta2", "optimizer.betas", _part(1), never, _torch(0.999, 0.999)),
    Entry("optim.eps", "optimizer.eps", present, default=_torch(1e-8, 1e-8)),
    Entry("optim.max_grad_norm", "clip_grad_norm.max_norm", present, default=1.0),
    Entry("schedule.name", "lr_scheduler.lr_decay_style", _then(_style),
          lambda name: _WRITTEN_STYLES.get(str(name), name)),
    Entry("schedule.name", "lr_scheduler", _section("lr_decay_style", "cosine"), never, "constant"),
    Entry("schedule.warmup_steps", "lr_scheduler.lr_warmup_steps", present, default=_warmup),
    Entry("schedule.min_lr", "lr_scheduler.min_lr", present),
    Entry("schedule.min_lr_ratio", "lr_scheduler", _section("min_lr", 0.01), never),
    # batch and length of the run
    Entry("batch.micro", "step_scheduler.local_batch_size", present, default=1),
    Entry("batch.global", "step_scheduler.global_batch_size", present, default=32),
    Entry("batch.drop_last", "dataloader.drop_last", present, default=False),
    Entry("train.task", "flow_matching", always("diffusion"), never),
    Entry("train.task", "recipe", _task, never, "sft"),
    Entry("train.epochs", "step_scheduler.num_epochs", present, default=10),
    Entry("train.max_steps", "step_scheduler.max_steps", present),
    Entry("train.seed", "seed", present, default=42),
    Entry("train.neftune_alpha", "neftune.noise_alpha", present),
    Entry("train.report_to", "wandb", _tracked, never),
    Entry("train.logging_steps", "step_scheduler.log_remote_every_steps", present, default=1),
    Entry("train.group_by_length", "dataloader.group_by_length", present, default=False),
    # precision
    Entry("precision.bf16", f"{_POLICY}param_dtype", is_dtype("bf16"), dtype_for("bf16"), _bf16),
    Entry("precision.fp16", f"{_POLICY}param_dtype", is_dtype("fp16"), dtype_for("fp16"), default=False),
    # data
    Entry("data.datasets", "dataset.dataset_name", _then(one_to_list), never),
    Entry("data.datasets", "dataset.path_or_dataset", _then(one_to_list), never),
    Entry("data.datasets", "dataset.path_or_dataset_id", _then(one_to_list), never),
    Entry("data.eval_dataset", "validation_dataset.dataset_name", _then(one_to_list), never),
    Entry("data.eval_dataset", "validation_dataset.path_or_dataset", _then(one_to_list), never),
    Entry("data.eval_dataset", "validation_dataset.path_or_dataset_id", _then(one_to_list), never),
    Entry("data.sequence_len", "dataset.seq_length", present),
    Entry("data.sequence_len", "dataset.seq_len", present, never),
    Entry("data.packing", "packed_sequence.packed_sequence_size",
          lambda size: isinstance(size, int) and size > 0, never, False),
    Entry("data.train_on_inputs", "dataset.answer_only_loss_mask", _switch(on=False, off=True),
          lambda on: not on if isinstance(on, bool) else SKIP),
    # evaluation and checkpoints
    Entry("eval.strategy", "step_scheduler.val_every_steps", _then(always("steps")), never, "no"),
    Entry("eval.steps", "step_scheduler.val_every_steps", present),
    Entry("checkpoint.output_dir", "checkpoint.checkpoint_dir", present, default="checkpoints/"),
    Entry("checkpoint.save_strategy", "checkpoint.enabled", _switch(SKIP, "no"), lambda name: name != "no", "steps"),
    Entry("checkpoint.save_steps", "step_scheduler.ckpt_every_steps", present, default=100),
    Entry("checkpoint.save_total_limit", "checkpoint.max_recent_checkpoints", present),
    Entry("checkpoint.resume_from", "checkpoint.restore_from", present),
    # memory, devices, kernels
    Entry("memory.gradient_checkpointing", "distributed.activation_checkpointing", _checkpointing, default=False),
    Entry("dist.fsdp", "distributed.strategy", _sharded, never),
    Entry("dist.fsdp", "distributed._target_", _sharded, never, True),
    Entry("dist.fsdp_version", "distributed.strategy", lambda name: 2 if lower(name) == "fsdp2" else SKIP, never,
          lambda look: 2 if look.get("dist.fsdp").value is True else SKIP),
    Entry("dist.fsdp_offload", "distributed.offload_policy", _then(always(canonical=True)), never),
    Entry("dist.tensor_parallel", "distributed.tp_size", present, default=1),
    Entry("dist.context_parallel", "distributed.cp_size", present, default=1),
    Entry("kernel.liger", "model.use_liger_kernel", present),
    Entry("kernel.compile", "compile.enabled", present, default=False),
)  # fmt: skip

READER = Reader(
    name="nemo-automodel",
    title="NeMo Automodel",
    dialect="pyyaml",
    table=TABLE,
    keys="nemo-automodel",
    coerces=True,
    packages=("nemo-automodel", "transformers", "torch", "bitsandbytes"),
    observe=(rejected, foreign, unmatched, ignored),
)
