"""torchtune (0.6.1 read): an OmegaConf file of components; `_component_` names a callable, its siblings the arguments.

The file is the whole truth: a recipe reads `cfg.x` and stops when it is absent, so most keys have no default here.
Only arguments of the model builder and keys read by `cfg.get` have one. The recipe itself stands on the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from loralint.frameworks.convert import dtype, lower, never, not_null
from loralint.frameworks.readers.torchtune_faults import rejected, slips
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

Convert = Callable[[object], object]

# Attention modules keep torchtune's names: PEFT's o_proj is output_proj here, and a name that torchtune does not know
# is ignored without a word. What the two switches add gets PEFT's names.
ATTENTION = ("q_proj", "k_proj", "v_proj", "output_proj")
MLP = ["gate_proj", "up_proj", "down_proj"]
OUTPUT = ["lm_head"]
_TASKS = {"DPOLoss": "dpo", "RSOLoss": "dpo", "PPOLoss": "ppo", "GRPOLoss": "grpo", "LinearGRPOLoss": "grpo"}
_TRACKERS = {
    "WandBLogger": "wandb",
    "TensorBoardLogger": "tensorboard",
    "CometLogger": "comet_ml",
    "MLFlowLogger": "mlflow",
}
_FORMATS = ("json", "csv", "text", None)  # `source` names a loader of local files


def _name(component: object) -> str:
    """`torchtune.models.llama3.lora_llama3_8b` -> `lora_llama3_8b`."""
    return component.rpartition(".")[2] if isinstance(component, str) else ""


def _method(component: object) -> object:
    """Tell the method by the builder's name; a builder of the user's own may do anything."""
    if _name(component).startswith(("lora_", "qlora_")):
        return "lora"
    return "full" if str(component).startswith("torchtune.models.") else SKIP


def _always(canonical: object) -> Convert:
    """Let the key's presence say it, whatever its value."""
    return lambda _: canonical


def _for_qlora(canonical: object) -> Convert:
    """`qlora_x` is `lora_x` with the base quantised."""
    return lambda component: canonical if _name(component).startswith("qlora_") else SKIP


def _switch(on: object, off: object = SKIP) -> Convert:
    return lambda value: on if value is True else off if value is False else SKIP


def _when(word: str, yes: object = True, no: object = False) -> Convert:
    return lambda value: yes if value == word else no


def _bits(value: object) -> object:
    return {4: True, 16: False}.get(value, SKIP) if isinstance(value, int) else SKIP


def _attention(value: object) -> object:
    """PEFT's names as this key wants them; it cannot name the MLP or the head."""
    if not isinstance(value, list):
        return SKIP
    names = ["output_proj" if name == "o_proj" else name for name in value]
    return names if all(name in ATTENTION for name in names) else SKIP


def _dtype(value: object) -> object:
    return "fp32" if value is None else dtype(value)


def _schedule(value: object) -> object:
    if value is None:
        return SKIP
    name = _name(value)
    return "cosine" if name == "get_cosine_schedule_with_warmup" else name.lower()


def _clip(value: object) -> object:
    """Take null and inf (measured, not clipped) for off, but keep a written 0: it wipes out every gradient."""
    return SKIP if value is None or str(value).lstrip("+.") == "inf" else value


def _steps_if_set(value: object) -> object:
    return SKIP if value is None else "steps"


def _part(index: int) -> Convert:
    """One of Adam's two betas."""
    return lambda value: value[index] if isinstance(value, list) and len(value) == 2 else SKIP


def _sources(value: object) -> object:
    """Ids or paths of the datasets; a builder with its source built in is named itself."""
    several = value if isinstance(value, list) else [value]
    return [_source(one) for one in several if isinstance(one, dict)] or SKIP


def _source(dataset: dict[object, object]) -> object:
    source = dataset.get("source")
    return source if source not in _FORMATS else dataset.get("data_files", dataset.get("_component_"))


def _by_optimizer(adamw: object, adam: object, sgd: object) -> Callable[[Look], object]:
    """Default of an absent argument of torch's, torchao's and bitsandbytes' optimizers."""

    def default(look: Look) -> object:
        name = str(look.get("optim.name").value)
        return next((value for word, value in (("adamw", adamw), ("adam", adam), ("sgd", sgd)) if word in name), SKIP)

    return default


def _warmup(look: Look) -> object:
    """Without a scheduler the rate is constant; with one the number of steps has no default."""
    return 0 if look.get("schedule.name").value == "constant" else SKIP


def combine(document: Document, values: Values) -> Values:
    """Three keys add up to the targets, and the cap on steps is per epoch."""
    del document
    fields = {}
    if "adapter.targets" in values:
        fields["adapter.targets"] = (_targets(values["adapter.targets"]),)
    if "train.max_steps" in values:
        fields["train.max_steps"] = (_steps(values["train.max_steps"][0], values.get("train.epochs", ())),)
    return fields


def _targets(parts: tuple[Value, ...]) -> Value:
    """One value with an item for each module; a switch's modules stand where the switch stands."""
    parts = tuple(part._replace(value=_named_in(part.value)) if isinstance(part.value, str) else part for part in parts)
    unknown = next((part for part in parts if not isinstance(part.value, list)), None)
    if unknown is not None:
        return unknown
    items = [
        item
        for part in parts
        for item in part.items or [part._replace(value=name, items=()) for name in _list(part)]
    ]  # fmt: skip
    return parts[0]._replace(value=[item.value for item in items], items=tuple(items))


def _named_in(text: str) -> list[str]:
    """What a text in place of the list adapts: torchtune asks `"q_proj" in it`, which of a text is true of a part."""
    return [name for name in ATTENTION if name in text] or [text]


def _list(part: Value) -> list[object]:
    return part.value if isinstance(part.value, list) else []


def _steps(cap: Value, epochs: tuple[Value, ...]) -> Value:
    """Count the steps that the run can take at most; it takes fewer when the data ends before the cap."""
    count = epochs[0].value if epochs else Unknown("`epochs` is not set")
    if count == 1 or isinstance(cap.value, Unknown):
        return cap
    if isinstance(count, (int, float)) and isinstance(cap.value, int) and isfinite(count):
        return cap._replace(value=int(cap.value * count), origin="derived", source="max_steps_per_epoch x epochs")
    return cap._replace(value=count if isinstance(count, Unknown) else Unknown("`epochs` is no finite number"))


TABLE = (
    # model and method
    Entry("model.base", "checkpointer.checkpoint_dir", not_null),
    Entry("model.class", "model._component_"),
    Entry("model.dtype", "dtype", _dtype),
    Entry("model.freeze_vision", "model.encoder_trainable", _when("frozen"), _switch("frozen")),
    Entry("adapter.method", "model._component_", _method, never),
    Entry("adapter.method", "model.lora_attn_modules", _always("lora"), never,
          default=Unknown("the name of the model's component does not say what is trained")),
    Entry("adapter.rank", "model.lora_rank"),
    Entry("adapter.alpha", "model.lora_alpha"),
    Entry("adapter.dropout", "model.lora_dropout", default=0.0),
    Entry("adapter.targets", "model.lora_attn_modules", write=_attention),
    Entry("adapter.targets", "model.apply_lora_to_mlp", _switch(MLP), never),
    Entry("adapter.targets", "model.apply_lora_to_output", _switch(OUTPUT), never),
    Entry("adapter.dora", "model.use_dora", default=False),
    Entry("adapter.dtype", "dtype", _dtype, lambda value: value if value in ("bf16", "fp32") else SKIP),
    Entry("quant.bits", "model.quantize_base", _switch(4, 16), _bits),
    Entry("quant.bits", "model._component_", _for_qlora(4), never, default=16),
    Entry("quant.method", "model.quantize_base", _switch("torchao"), never),
    Entry("quant.method", "model._component_", _for_qlora("torchao"), never),
    Entry("quant.type", "model.quantize_base", _switch("nf4"), never),
    Entry("quant.type", "model._component_", _for_qlora("nf4"), never),
    # optimizer and schedule
    Entry("optim.name", "optimizer._component_", lower, never),
    Entry("optim.lr", "optimizer.lr", default=_by_optimizer(1e-3, 1e-3, 1e-3)),
    Entry("optim.weight_decay", "optimizer.weight_decay", default=_by_optimizer(0.01, 0.0, 0.0)),
    Entry("optim.beta1", "optimizer.betas", _part(0), never, default=_by_optimizer(0.9, 0.9, SKIP)),
    Entry("optim.beta2", "optimizer.betas", _part(1), never, default=_by_optimizer(0.999, 0.999, SKIP)),
    Entry("optim.eps", "optimizer.eps", default=_by_optimizer(1e-8, 1e-8, SKIP)),
    Entry("optim.momentum", "optimizer.momentum", default=_by_optimizer(SKIP, SKIP, 0.0)),
    Entry("optim.max_grad_norm", "clip_grad_norm", _clip, default=0.0),
    Entry("schedule.name", "lr_scheduler._component_", _schedule, never, default="constant"),
    Entry("schedule.warmup_steps", "lr_scheduler.num_warmup_steps", default=_warmup),
    # batch and length of the run
    Entry("batch.micro", "batch_size"),
    Entry("batch.accumulation", "gradient_accumulation_steps", default=1),
    Entry("batch.eval_micro", "batch_size_val", not_null),
    Entry("batch.drop_last", "", write=never, default=True),  # not configurable
    Entry("train.task", "kd_loss._component_", _always("kd"), never),
    Entry("train.task", "loss._component_", lambda value: _TASKS.get(_name(value), SKIP), never, default="sft"),
    Entry("train.epochs", "epochs"),
    Entry("train.max_steps", "max_steps_per_epoch", not_null, never),
    Entry("train.seed", "seed", not_null),
    Entry("train.enabled", "max_new_tokens", _always(False), never),  # generation
    Entry("train.enabled", "tasks", _always(False), never, default=True),  # evaluation
    Entry("train.report_to", "metric_logger._component_",
          lambda value: [_TRACKERS[_name(value)]] if _name(value) in _TRACKERS else [], never),
    Entry("train.logging_steps", "log_every_n_steps", default=1),
    # precision: weights, adapter and products share one dtype
    Entry("precision.bf16", "dtype", _when("bf16"), _switch("bf16", "fp32"), default=False),
    Entry("precision.fp16", "dtype", _when("fp16"), never, default=False),
    Entry("precision.pure_bf16", "dtype", _when("bf16"), _switch("bf16", "fp32"), default=False),
    # data
    Entry("data.datasets", "dataset", _sources, never),
    Entry("data.sequence_len", "tokenizer.max_seq_len", not_null),
    Entry("data.packing", "dataset.packed", default=False),
    Entry("data.eval_packing", "dataset_val.packed", default=False),
    Entry("data.train_on_inputs", "dataset.train_on_input", not_null),
    Entry("data.template", "tokenizer.prompt_template", not_null),
    Entry("data.eval_dataset", "dataset_val", _sources, never),
    # evaluation and checkpoints
    Entry("eval.strategy", "run_val_every_n_steps", _steps_if_set, never, default="no"),
    Entry("eval.steps", "run_val_every_n_steps", not_null),
    Entry("checkpoint.output_dir", "output_dir"),
    Entry("checkpoint.save_strategy", "save_every_n_steps", _steps_if_set, never, default="epoch"),
    Entry("checkpoint.save_steps", "save_every_n_steps", not_null),
    Entry("checkpoint.resume_from", "resume_from_checkpoint", _switch("latest")),
    # memory and devices
    Entry("memory.gradient_checkpointing", "enable_activation_checkpointing", default=False),
    Entry("memory.activation_offload", "enable_activation_offloading", default=False),
    Entry("dist.tensor_parallel", "tensor_parallel_dim", default=1),
    Entry("kernel.compile", "compile", default=False),
    # preference
    Entry("pref.beta", "loss.beta", default=lambda look: 0.1 if look.get("train.task").value == "dpo" else SKIP),
    Entry("pref.reference_model", "ref_checkpointer.checkpoint_dir", not_null),
)  # fmt: skip

READER = Reader(
    name="torchtune",
    title="torchtune",
    dialect="omegaconf",
    table=TABLE,
    keys="",  # an unknown key at the top is legal, so the general observer has nothing to say
    coerces=False,
    packages=("torchtune", "torch", "torchao"),
    observe=(slips, rejected),
    combine=combine,
    references=True,
)
