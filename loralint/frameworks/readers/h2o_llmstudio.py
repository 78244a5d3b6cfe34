"""H2O LLM Studio (1.14.9 read): sections that become dataclasses; nothing is converted, unknown keys are dropped.

Words such as "None" stand for a null, warm-up counts in epochs, and clipping at 0 is off. The problem type is the
task. Products of a quantised base run in fp16, whatever autocast does around them.
Sources: llm_studio/python_configs/*.py, src/utils/{config_utils,modeling_utils}.py, src/{optimizers,schedulers}.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, long_dtype, lower, never, not_null, one_to_list, words
from loralint.frameworks.readers.h2o_llmstudio_faults import rejected
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_TASKS = {
    "text_causal_language_modeling": "sft",
    "text_sequence_to_sequence_modeling": "sft",
    "text_dpo_modeling": "dpo",
    "text_rlhf_language_modeling": "ppo",
    "text_causal_classification_modeling": "cls",
    "text_causal_regression_modeling": "cls",
}
_BITS = {"int4": 4, "int8": 8}
_FULL_PRECISION = 16
_SCHEDULES = {"cosine": "cosine", "linear": "linear", "constant": "constant_with_warmup"}
_TRACKERS = {"w&b": ["wandb"], "neptune": ["neptune"], "none": []}
_SAVES = {"last": "epoch", "each_evaluation_epoch": "epoch", "best": "best", "disable": "no"}


def nothing(word: object) -> object:
    """Read `None`, an empty text and null as an absent value."""
    return SKIP if word in (None, "", "None") else word


def _path(word: object) -> object:
    """Read a data frame as a list of one."""
    return SKIP if nothing(word) is SKIP else one_to_list(word)


def _only_one(names: object) -> object:
    return names[0] if isinstance(names, list) and len(names) == 1 else SKIP


def _method(switch: object) -> object:
    return {True: "lora", False: "full"}.get(bool(switch)) if isinstance(switch, (bool, int)) else SKIP


def _written_method(name: object) -> object:
    return {"lora": True, "full": False}.get(str(name), SKIP)


def _bits(word: object) -> object:
    return _BITS.get(str(word), _FULL_PRECISION)


def _written_bits(number: object) -> object:
    return {4: "int4", 8: "int8"}.get(number, SKIP) if isinstance(number, int) else SKIP


def _backbone(word: object) -> object:
    """Read the dtype; what is not quantised of a quantised base is loaded in fp16."""
    return "fp16" if str(word) in _BITS else dtype(word)


def _targets(names: object) -> object:
    """Read an empty text as every linear layer but the head."""
    return SKIP if not isinstance(names, list) else names or "all-linear"


def _written_targets(names: object) -> object:
    return "" if names == "all-linear" else ",".join(map(str, names)) if isinstance(names, list) else SKIP


def _positive(number: object) -> object:
    """Read 0 as off."""
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _not_negative(number: object) -> object:
    """Read a negative seed as a random one."""
    return number if isinstance(number, int) and number >= 0 else SKIP


def _only_evaluates(epochs: object) -> object:
    """Read no epochs as the evaluation that is then forced."""
    return False if isinstance(epochs, int) and epochs <= 0 else SKIP


def _per_epoch(share: object) -> object:
    """Turn epochs between evaluations into evaluations per epoch, and back."""
    return 1 / share if isinstance(share, (int, float)) and share > 0 else SKIP


def _stage(name: object) -> object:
    return {"ZeRO2": 2, "ZeRO3": 3}.get(str(name), SKIP)


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _of_4bit(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


def _by_optimizer(adam: object, sgd: object) -> Callable[[Look], object]:
    def default(look: Look) -> object:
        name = str(look.get("optim.name").value)
        return adam if name.startswith("adam") else sgd if name == "sgd" else SKIP

    return default


def _clip(look: Look) -> object:
    return 10.0 if look.get("train.task").value == "dpo" else 0.0


def combine(document: Document, values: Values) -> Values:
    """Make warm-up a share of the run and autocast one field, and leave out what DeepSpeed's switch leaves out."""
    del document
    fields: dict[str, tuple[Value, ...]] = {}
    if "schedule.warmup_ratio" in values:
        fields["schedule.warmup_ratio"] = (_share(values["schedule.warmup_ratio"][0], values.get("train.epochs", ())),)
    mixed = _first(values, "precision.bf16", "environment.mixed_precision")
    word = _first(values, "precision.bf16", "environment.mixed_precision_dtype")
    pure = "adapter.method" in values and values["adapter.method"][0].value == "full"
    if mixed is not None or word is not None or pure:
        on = (mixed is None or mixed.value is True) and not (pure and not _is_fp32(values))
        half = word is not None and word.value == "float16"
        shown = word or mixed or values["adapter.method"][0]
        fields["precision.bf16"] = (shown._replace(value=on and not half, field="precision.bf16", items=()),)
        fields["precision.fp16"] = (shown._replace(value=on and half, field="precision.fp16", items=()),)
    if "dist.zero_stage" in values and "dist.deepspeed" not in values:
        fields["dist.zero_stage"] = ()
    return fields


def _first(values: Values, field: str, key: str) -> Value | None:
    return next((one for one in values.get(field, ()) if one.key == key), None)


def _is_fp32(values: Values) -> bool:
    """Whether the base is in fp32: training in full with another dtype switches autocast off."""
    return "model.dtype" in values and values["model.dtype"][0].value == "fp32"


def _share(warmup: Value, epochs: tuple[Value, ...]) -> Value:
    """Warm-up in epochs over the epochs of the run, one unless written."""
    length = epochs[0].value if epochs else 1
    if isinstance(length, Unknown) or isinstance(warmup.value, Unknown):
        return warmup._replace(value=length if isinstance(length, Unknown) else warmup.value)
    if not isinstance(warmup.value, (int, float)) or not isinstance(length, (int, float)):
        return warmup
    return warmup._replace(value=warmup.value / length if length > 0 else 0.0)


TABLE = (
    # the base model
    Entry("model.base", "llm_backbone", not_null),
    Entry("model.dtype", "architecture.backbone_dtype", _backbone, long_dtype, "fp16"),
    Entry("model.attention", "training.attention_implementation", not_null, default="auto"),
    Entry("model.trust_remote_code", "environment.trust_remote_code", not_null, default=True),
    # the adapter
    Entry("adapter.method", "training.lora", _method, _written_method, "lora"),
    Entry("adapter.rank", "training.lora_r", not_null, default=4),
    Entry("adapter.alpha", "training.lora_alpha", not_null, default=16),
    Entry("adapter.dropout", "training.lora_dropout", not_null, default=0.05),
    Entry("adapter.bias", "", write=never, default=_lora("none")),
    Entry("adapter.targets", "training.lora_target_modules", _targets, _written_targets, _lora("all-linear"),
          split=","),
    Entry("adapter.rslora", "training.use_rslora", not_null, default=False),
    Entry("adapter.dora", "training.use_dora", not_null, default=False),
    Entry("adapter.init", "", write=never, default=_lora("true")),
    Entry("adapter.dtype", "", write=never, default=_lora("fp32")),
    Entry("adapter.task_type", "", write=never, default=_lora("CAUSAL_LM")),
    Entry("train.unfrozen", "training.lora_unfreeze_layers", lambda names: names or SKIP),
    # quantisation of the base
    Entry("quant.bits", "architecture.backbone_dtype", _bits, _written_bits, 4),
    Entry("quant.method", "architecture.backbone_dtype", lambda word: "bnb" if str(word) in _BITS else SKIP, never,
          lambda look: "bnb" if look.get("quant.bits").value in (4, 8) else SKIP),
    Entry("quant.type", "", write=never, default=_of_4bit("nf4")),
    Entry("quant.double", "", write=never, default=_of_4bit(answer=False)),
    Entry("quant.compute_dtype", "", write=never, default=_of_4bit("fp16")),
    # optimizer and schedule
    Entry("optim.name", "training.optimizer", lower, words({"adamw": "AdamW", "adam": "Adam", "sgd": "SGD",
          "adamw8bit": "AdamW8bit", "adadelta": "Adadelta", "rmsprop": "RMSprop"}), "adamw"),
    Entry("optim.lr", "training.learning_rate", not_null, default=1e-4),
    Entry("optim.weight_decay", "training.weight_decay", not_null, default=0.0),
    Entry("optim.beta1", "", write=never, default=_by_optimizer(0.9, SKIP)),
    Entry("optim.beta2", "", write=never, default=_by_optimizer(0.999, SKIP)),
    Entry("optim.eps", "", write=never, default=_by_optimizer(1e-8, SKIP)),
    Entry("optim.momentum", "", write=never, default=_by_optimizer(SKIP, 0.9)),
    Entry("optim.max_grad_norm", "training.gradient_clip", not_null, default=_clip),
    Entry("schedule.name", "training.schedule", lambda name: _SCHEDULES.get(str(name).lower(), lower(name)),
          words({"cosine": "Cosine", "linear": "Linear", "constant_with_warmup": "Constant"}), "cosine"),
    Entry("schedule.warmup_ratio", "training.warmup_epochs", not_null, never, 0.0),
    Entry("schedule.min_lr_ratio", "training.min_learning_rate_ratio", not_null, default=0.0),
    # batch and length of the run
    Entry("batch.micro", "training.batch_size", not_null, default=2),
    Entry("batch.accumulation", "training.grad_accumulation", not_null, default=1),
    Entry("batch.eval_micro", "prediction.batch_size_inference", _positive),
    Entry("batch.drop_last", "training.drop_last_batch", not_null, default=True),
    Entry("train.task", "problem_type", lambda name: _TASKS.get(str(name), SKIP), never),
    Entry("train.epochs", "training.epochs", not_null, default=1),
    Entry("train.enabled", "training.epochs", _only_evaluates, never, True),
    Entry("train.seed", "environment.seed", _not_negative),
    Entry("train.neftune_alpha", "augmentation.neftune_noise_alpha", _positive),
    Entry("train.report_to", "logging.logger", lambda name: _TRACKERS.get(str(name).lower(), SKIP),
          lambda names: {"wandb": "W&B", "neptune": "Neptune"}.get(str(_only_one(names)), SKIP) if names else "None",
          []),
    Entry("run.gpu_count", "environment.gpus", lambda names: len(names) or SKIP if isinstance(names, list) else SKIP,
          never),
    # precision: autocast, whose format is a second key
    Entry("precision.bf16", "environment.mixed_precision", write=never),
    Entry("precision.bf16", "environment.mixed_precision_dtype", write=lambda on: "bfloat16" if on else "float16",
          default=True),
    Entry("precision.fp16", "environment.mixed_precision_dtype", lambda word: word == "float16",
          lambda on: "float16" if on else "bfloat16", False),
    # data
    Entry("data.datasets", "dataset.train_dataframe", _path, _only_one),
    Entry("data.eval_dataset", "dataset.validation_dataframe", _path, _only_one),
    Entry("data.val_size", "dataset.validation_size", _positive, default=0.01),
    Entry("data.sequence_len", "tokenizer.max_length", not_null, default=512),
    Entry("data.train_on_inputs", "dataset.mask_prompt_labels", words({True: False, False: True}),
          words({True: False, False: True}), default=False),
    Entry("data.mask_history", "dataset.only_last_answer", not_null, default=False),
    Entry("data.packing", "", write=never, default=False),
    # evaluation and checkpoints
    Entry("eval.per_epoch", "training.evaluation_epochs", _per_epoch, _per_epoch, 1.0),
    Entry("checkpoint.output_dir", "output_directory", not_null),
    Entry("checkpoint.save_strategy", "training.save_checkpoint", lambda name: _SAVES.get(str(name), SKIP),
          words({"epoch": "each_evaluation_epoch", "no": "disable"}), "epoch"),
    Entry("checkpoint.metric", "prediction.metric", not_null),
    # memory and devices
    Entry("memory.gradient_checkpointing", "architecture.gradient_checkpointing", not_null, default=True),
    Entry("memory.reentrant", "", write=never,
          default=lambda look: False if look.get("memory.gradient_checkpointing").value is True else SKIP),
    Entry("dist.deepspeed", "environment.use_deepspeed", lambda on: "H2O's own" if on is True else SKIP, never),
    Entry("dist.zero_stage", "environment.deepspeed_method", _stage, words({2: "ZeRO2", 3: "ZeRO3"})),
    Entry("dist.ddp_find_unused", "environment.find_unused_parameters", not_null, default=False),
    Entry("kernel.compile", "environment.compile_model", not_null, default=False),
    # preference
    Entry("pref.beta", "training.beta", not_null,
          default=lambda look: 0.2 if look.get("train.task").value == "dpo" else SKIP),
)  # fmt: skip

READER = Reader(
    name="h2o-llmstudio",
    title="H2O LLM Studio",
    dialect="pyyaml",
    table=TABLE,
    keys="h2o_llmstudio",
    coerces=False,
    packages=("h2o-llmstudio", "transformers", "peft", "bitsandbytes"),
    observe=(rejected,),
    combine=combine,
)
