"""Ludwig's LLM files (0.17.10 read): `model_type: llm`, `base_model`, features, and a trainer whose type trains or not.

The fine-tuning trainer is the general one with another batch size: a rate of 0.001 and 100 epochs are its defaults.
Without `trainer.type` the model is only prompted. Data, seed and output folder stand on the command line.
Sources: ludwig 0.17.10 schema/{trainer,optimizers,lr_scheduler}.py, schema/llms/*.py, utils/*_utils.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, long_dtype, lower, never, not_null, rope
from loralint.frameworks.readers.ludwig_faults import rejected, untrained
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_TASKS = {"finetune": "sft", "dpo": "dpo", "kto": "kto", "orpo": "orpo", "grpo": "grpo"}
_FULL_PRECISION = 16
_SPLIT = 3  # shares of training, validation and test


def _word(name: object) -> object:
    """Read the short form `adapter: lora`; a mapping has its own rows."""
    return name.lower() if isinstance(name, str) else SKIP


def _several(_: object) -> object:
    return Unknown("several named adapters are registered")


def of_section_without(key: str, default: object) -> Callable[[object], object]:
    """Read what a section means that stands without this key, which has a row of its own."""
    return lambda section: default if isinstance(section, dict) and key not in section else SKIP


def _method_of_quantisation(backend: object) -> object:
    return {"bitsandbytes": "bnb", "torchao": "torchao"}.get(str(backend), SKIP)


def _backend(section: object) -> object:
    return _method_of_quantisation(section.get("backend", "bitsandbytes")) if isinstance(section, dict) else SKIP


def _init(name: object) -> object:
    return {"default": "true"}.get(str(name), name) if isinstance(name, str) else SKIP


def _written_init(name: object) -> object:
    return "default" if name == "true" else name


def not_auto(what: str) -> Callable[[object], object]:
    """Read `auto` as what only Ludwig knows once it runs."""
    return lambda made: Unknown(f"`auto` lets Ludwig choose the {what}") if made == "auto" else not_null(made)


def _number(made: object) -> object:
    """Read a number; `auto` says nothing, since something else then decides."""
    return made if isinstance(made, (int, float)) and not isinstance(made, bool) else SKIP


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _part(index: int) -> Callable[[object], object]:
    return lambda pair: pair[index] if isinstance(pair, (list, tuple)) and len(pair) == 2 else SKIP


def _held_out(shares: object) -> object:
    return shares[1] if isinstance(shares, list) and len(shares) == _SPLIT else SKIP


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _of_4bit(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


def _alpha(look: Look) -> object:
    rank = look.get("adapter.rank").value
    return rank * 2 if isinstance(rank, int) and look.get("adapter.method").value == "lora" else SKIP


def _adam(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if "adam" in str(look.get("optim.name").value) else SKIP


def _model_dtype(look: Look) -> object:
    """The compute dtype of a quantised base, else fp32."""
    return look.get("quant.compute_dtype").value if look.get("quant.bits").value in (4, 8) else "fp32"


def _schedule(look: Look) -> object:
    share = look.get("schedule.warmup_ratio").value
    return "constant_with_warmup" if isinstance(share, (int, float)) and share > 0 else "constant"


def _accumulation(look: Look) -> object:
    """Fill up `effective_batch_size` where it is written, else take one pass."""
    whole, micro = look.get("batch.global").value, look.get("batch.micro").value
    if not isinstance(whole, int):
        return 1 if whole is None else SKIP
    return max(whole // micro, 1) if isinstance(micro, int) and micro > 0 else SKIP


def _for(task: str, answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("train.task").value == task else SKIP


def combine(document: Document, values: Values) -> Values:
    """Leave out the beta of another loss than the trainer's, and the stage of a backend that is not DeepSpeed's."""
    del document
    fields: dict[str, tuple[Value, ...]] = {}
    if "pref.beta" in values:
        task = values["train.task"][0].value if "train.task" in values else ""
        fields["pref.beta"] = tuple(one for one in values["pref.beta"] if one.key == f"trainer.{task}_beta")
    if "dist.zero_stage" in values and "dist.deepspeed" not in values:
        fields["dist.zero_stage"] = ()
    return fields


TABLE = (
    # the base model
    Entry("model.base", "base_model", not_null),
    Entry("model.dtype", "", write=never, default=_model_dtype),
    Entry("model.rope_scaling", "model_parameters.rope_scaling", rope, never),
    Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
    # the adapter
    Entry("adapter.method", "adapter.type", lower, default="full"),
    Entry("adapter.method", "adapter", _word, never),
    Entry("adapter.method", "adapters", _several, never),
    Entry("adapter.rank", "adapter.r", not_null, default=_lora(8)),
    Entry("adapter.alpha", "adapter.alpha", not_null, default=_alpha),
    Entry("adapter.dropout", "adapter.dropout", not_null, default=_lora(0.05)),
    Entry("adapter.bias", "adapter.bias_type", not_null, default=_lora("none")),
    Entry("adapter.targets", "adapter.target_modules", not_null,
          lambda names: names if isinstance(names, list) else SKIP),
    Entry("adapter.rank_pattern", "adapter.rank_pattern", not_null),
    Entry("adapter.alpha_pattern", "adapter.alpha_pattern", not_null),
    Entry("adapter.rslora", "adapter.use_rslora", not_null, default=_lora(answer=False)),
    Entry("adapter.dora", "adapter.use_dora", not_null, default=_lora(answer=False)),
    Entry("adapter.init", "adapter.init_lora_weights", _init, _written_init, _lora("true")),
    Entry("adapter.loftq_bits", "adapter.loftq_config.loftq_bits", not_null),
    Entry("adapter.loraplus_ratio", "adapter.loraplus_lr_ratio", not_null),
    Entry("adapter.dtype", "", write=never, default=_lora("fp32")),
    Entry("adapter.task_type", "", write=never, default=_lora("CAUSAL_LM")),
    Entry("adapter.resume_from", "adapter.pretrained_adapter_weights", not_null),
    Entry("adapter.merge_on_save", "adapter.postprocessor.merge_adapter_into_base_model", not_null,
          default=_lora(answer=False)),
    # quantisation of the base: the section alone means 4 bits
    Entry("quant.bits", "quantization.bits", not_null),
    Entry("quant.bits", "quantization", of_section_without("bits", 4), never, _FULL_PRECISION),
    Entry("quant.method", "quantization.backend", _method_of_quantisation,
          lambda name: {"bnb": "bitsandbytes", "torchao": "torchao"}.get(str(name), SKIP)),
    Entry("quant.method", "quantization", _backend, never),
    Entry("quant.type", "quantization.bnb_4bit_quant_type", not_null, default=_of_4bit("nf4")),
    Entry("quant.double", "quantization.bnb_4bit_use_double_quant", not_null, default=_of_4bit(answer=True)),
    Entry("quant.compute_dtype", "quantization.bnb_4bit_compute_dtype", dtype, long_dtype,
          lambda look: "fp16" if look.get("quant.bits").value in (4, 8) else SKIP),
    # optimizer and schedule
    Entry("optim.name", "trainer.optimizer.type", lower, default="adam"),
    Entry("optim.name", "trainer.optimizer", _word, never),
    Entry("optim.lr", "trainer.learning_rate", not_auto("learning rate"), default=0.001),
    Entry("optim.weight_decay", "trainer.optimizer.weight_decay", not_null, default=_adam(0.0)),
    Entry("optim.beta1", "trainer.optimizer.betas", _part(0), never, _adam(0.9)),
    Entry("optim.beta2", "trainer.optimizer.betas", _part(1), never, _adam(0.999)),
    Entry("optim.eps", "trainer.optimizer.eps", not_null, default=_adam(1e-8)),
    Entry("optim.momentum", "trainer.optimizer.momentum", not_null),
    Entry("optim.max_grad_norm", "trainer.gradient_clipping.clipglobalnorm", not_null, default=0.5),
    Entry("schedule.name", "trainer.learning_rate_scheduler.decay",
          lambda name: {"wsd": "warmup_stable_decay"}.get(str(name), not_null(name)),
          lambda name: {"warmup_stable_decay": "wsd"}.get(str(name), name), _schedule),
    Entry("schedule.warmup_ratio", "trainer.learning_rate_scheduler.warmup_fraction", not_null, default=0.0),
    Entry("schedule.min_lr", "trainer.learning_rate_scheduler.eta_min", not_null),
    # batch and length of the run
    Entry("batch.micro", "trainer.batch_size", not_auto("batch size"), default=1),
    Entry("batch.accumulation", "trainer.gradient_accumulation_steps", _number, default=_accumulation),
    Entry("batch.global", "trainer.effective_batch_size", _number),
    Entry("batch.eval_micro", "trainer.eval_batch_size", _number, default=2),
    Entry("train.task", "trainer.type", lambda name: _TASKS.get(str(name), SKIP),
          lambda task: {"sft": "finetune"}.get(str(task), task), "sft"),
    Entry("train.enabled", "trainer.type", lambda name: str(name) in _TASKS,
          lambda on: "finetune" if on else "none", False),
    Entry("train.epochs", "trainer.epochs", not_null, default=100),
    Entry("train.max_steps", "trainer.train_steps", not_null),
    Entry("train.seed", "", write=never, default=42),
    Entry("train.early_stopping_patience", "trainer.early_stop", _positive, default=5),
    Entry("train.neftune_alpha", "model_parameters.neftune_noise_alpha", _positive),
    # precision: autocast without a dtype is fp16 on a GPU
    Entry("precision.fp16", "trainer.use_mixed_precision", not_null, default=False),
    Entry("precision.bf16", "", write=never, default=False),
    # data
    Entry("data.sequence_len", "preprocessing.global_max_sequence_length", not_null),
    Entry("data.template", "prompt.template", not_null),
    Entry("data.val_size", "preprocessing.split.probabilities", _held_out, never, 0.1),
    # evaluation and checkpoints: once an epoch unless told otherwise
    Entry("eval.strategy", "trainer.skip_all_evaluation", lambda on: "no" if on is True else SKIP,
          lambda name: name == "no", "epoch"),
    Entry("checkpoint.save_steps", "trainer.steps_per_checkpoint", _positive),
    Entry("checkpoint.saves_per_epoch", "trainer.checkpoints_per_epoch", _positive),
    # memory, devices, kernels
    Entry("memory.gradient_checkpointing", "trainer.enable_gradient_checkpointing", not_null, default=False),
    Entry("dist.deepspeed", "backend.type", lambda name: name if name == "deepspeed" else SKIP, never),
    Entry("dist.zero_stage", "backend.zero_optimization.stage", not_null),
    Entry("kernel.compile", "trainer.compile", not_null, default=False),
    # preference and RL
    *(Entry("pref.beta", f"trainer.{task}_beta", not_null, default=_for(task, beta))
      for task, beta in (("dpo", 0.1), ("kto", 0.1), ("orpo", 0.1), ("grpo", 0.04))),
    Entry("pref.loss", "trainer.dpo_loss_type", lower, default=_for("dpo", "sigmoid")),
    Entry("pref.label_smoothing", "trainer.dpo_label_smoothing", not_null, default=_for("dpo", 0.0)),
    Entry("rl.num_generations", "trainer.grpo_num_generations", not_null, default=_for("grpo", 4)),
)  # fmt: skip

READER = Reader(
    name="ludwig",
    title="Ludwig",
    dialect="pyyaml",
    table=TABLE,
    keys="ludwig",
    coerces=True,
    packages=("ludwig", "transformers", "peft", "bitsandbytes"),
    observe=(untrained, rejected),
    combine=combine,
)
