"""NeMo (1.23 to 2.5 read): Hydra configs of its Megatron models, of SpeechLM and of its speech language models.

NeMo 1 lists every scheme below `model.peft` and `peft_scheme` chooses one. SpeechLM gives `model.peft` a `_target_`,
and the newer speech models hand `model.lora` to PEFT. Lightning's `trainer` says how long and in which precision.
Sources: NeMo 1.23.0 nemo/collections/nlp/parts/peft_config.py, 2.5.0rc0 nemo/collections/llm/peft/lora.py,
8cfedd72 nemo/collections/speechlm2/parts/lora.py and examples.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import always, never, not_null
from loralint.frameworks.readers.globs import read_globs
from loralint.frameworks.readers.hydra import filled_later, inherits
from loralint.frameworks.readers.nemo_faults import observe_shares
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

# NeMo 1's own words for the modules of a Megatron layer
WORDS = {"attention": ["attention_qkv", "attention_dense"], "mlp": ["mlp_fc1", "mlp_fc2"]}
_SCHEMES = {"lora": "lora", "qlora": "lora", "ptuning": "p_tuning", "ia3": "ia3", "adapter": "adapter", "none": "full"}
_SCHEDULES = {
    "cosineannealing": "cosine",
    "cosineannealingscheduler": "cosine",
    "warmupannealing": "linear",
    "warmupholdpolicy": "constant_with_warmup",
    "inversesquarerootannealing": "inverse_sqrt",
    "polynomialdecayannealing": "polynomial",
}
_PRECISIONS = {"bf16": "bf16", "fp16": "16"}
_TUNING = "model.peft.lora_tuning."


def _for_true(told: str) -> Callable[[object], object]:
    return lambda on: told if on is True else SKIP


def _scheme(name: object) -> object:
    """Read the scheme; several of them, separated by commas, are no single method."""
    if name is None:
        return "full"
    word = str(name).lower()
    return Unknown(f"`{name}` are several schemes") if "," in word else _SCHEMES.get(word, word)


def _written_scheme(name: object) -> object:
    return {"lora": "lora", "full": "none"}.get(str(name), SKIP)


def _target(path: object) -> object:
    """Tell the method by the class that `_target_` names."""
    name = str(path).rpartition(".")[2].lower()
    return "lora" if "lora" in name or "dora" in name else SKIP


def _present(section: object) -> object:
    return "lora" if isinstance(section, dict) else SKIP


def _words(names: object) -> object:
    """Give the modules that NeMo 1's words stand for; `all` is every linear layer."""
    several = [names] if isinstance(names, str) else names
    if not isinstance(several, list) or not several:
        return SKIP
    if "all" in several:
        return "all-linear"
    return [module for name in several for module in (WORDS.get(name, [name]) if isinstance(name, str) else [name])]


def _names(targets: object) -> object:
    return ["all"] if targets == "all-linear" else targets if isinstance(targets, list) else SKIP


def _last(path: object) -> object:
    return path.rpartition(".")[2].lower() if isinstance(path, str) else SKIP


def _schedule(path: object) -> object:
    name = str(path).rpartition(".")[2].lower()
    return _SCHEDULES.get(name, name) if path is not None else SKIP


def _part(index: int) -> Callable[[object], object]:
    return lambda betas: betas[index] if isinstance(betas, list) and len(betas) == 2 else SKIP


def _precision(word: str, one: Value) -> Value:
    """Read Lightning's precision by its text, since 16 and 32 are both true to a switch; `16-mixed`, `bf16-true` ..."""
    if isinstance(one.value, Unknown):
        return one
    text = one.value if isinstance(one.value, str) else str(one.text)
    return one._replace(value=text.strip("\"'").startswith(word))


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _steps(interval: object) -> object:
    """Read an interval of whole steps; a fraction is one of an epoch."""
    return interval if isinstance(interval, int) and interval > 0 else SKIP


def _files(names: object) -> object:
    return [names] if isinstance(names, str) else not_null(names)


def _by_class(answer: object) -> Callable[[Look], object]:
    """Default of NeMo 2's LoRA class; NeMo 1's section has to say its own."""
    return lambda look: answer if look.get("adapter.method").key == "model.peft._target_" else SKIP


def _alpha(look: Look) -> object:
    """Give the rank in NeMo 1, 32 in NeMo 2 and PEFT's 8."""
    method = look.get("adapter.method")
    rank = look.get("adapter.rank").value
    return {"model.peft._target_": 32, "model.lora": 8, "model.peft.peft_scheme": rank}.get(method.key, SKIP)


def combine(document: Document, values: Values) -> Values:
    """Leave out the tuning sections that `peft_scheme` does not choose, and tell the precisions apart."""
    del document
    method = values.get("adapter.method", ())
    fields: dict[str, tuple[Value, ...]] = filled_later(values)
    for word, start in _PRECISIONS.items():
        field = f"precision.{word}"
        fields[field] = tuple(_precision(start, one) for one in values.get(field, ()))
    if not method or method[0].value != "lora":
        for field, several in values.items():
            kept = tuple(one for one in several if not one.key.startswith(_TUNING))
            if len(kept) != len(several):
                fields[field] = kept
    return fields


TABLE = (
    # the base model
    Entry("model.base", "model.pretrained_llm", not_null),
    Entry("model.base", "model.llm.pretrained_model", not_null, never),
    Entry("model.base", "model.restore_from_path", not_null, never),
    # the adapter
    Entry("adapter.method", "model.peft.peft_scheme", _scheme, _written_scheme),
    Entry("adapter.method", "model.peft._target_", _target, never),
    Entry("adapter.method", "model.lora", _present, never, "full"),
    Entry("adapter.rank", "model.peft.lora_tuning.adapter_dim", not_null),
    Entry("adapter.rank", "model.peft.dim", not_null),
    Entry("adapter.rank", "model.lora.r", not_null, default=_by_class(32)),
    Entry("adapter.alpha", "model.peft.lora_tuning.alpha", not_null, default=_alpha),
    Entry("adapter.alpha", "model.peft.alpha", not_null),
    Entry("adapter.alpha", "model.lora.lora_alpha", not_null),
    Entry("adapter.dropout", "model.peft.lora_tuning.adapter_dropout", not_null),
    Entry("adapter.dropout", "model.peft.dropout", not_null),
    Entry("adapter.dropout", "model.lora.lora_dropout", not_null, default=_by_class(0.0)),
    Entry("adapter.targets", "model.peft.lora_tuning.target_modules", _words, _names),
    Entry("adapter.targets", "model.peft.target_modules", read_globs, never),
    Entry("adapter.targets", "model.lora.target_modules", not_null, never,
          _by_class(["linear_qkv", "linear_proj", "linear_fc1", "linear_fc2"])),
    Entry("adapter.init", "model.peft.lora_tuning.column_init_method", not_null, never),
    Entry("adapter.init", "model.peft.lora_A_init_method", not_null, never, _by_class("xavier")),
    Entry("adapter.layers", "model.peft.lora_tuning.layer_selection", not_null),
    Entry("adapter.resume_from", "model.peft.restore_from_path", not_null),
    Entry("model.freeze_language", "model.freeze_language_model", not_null),
    # optimizer and schedule
    Entry("optim.name", "model.optim.name", _last),
    Entry("optim.name", "optim.config.optimizer", _last, never),
    Entry("optim.name", "model.optimizer._target_", _last, never),
    *(Entry(f"optim.{field}", f"{section}.{key}", read, write)
      for section in ("model.optim", "optim.config", "model.optimizer")
      for field, key, read, write in (
          ("lr", "lr", not_null, not_null), ("weight_decay", "weight_decay", not_null, not_null),
          ("beta1", "betas", _part(0), never), ("beta2", "betas", _part(1), never), ("eps", "eps", not_null, not_null),
      )),
    Entry("optim.max_grad_norm", "trainer.gradient_clip_val", not_null),
    Entry("optim.max_grad_norm", "optim.config.clip_grad", not_null),
    Entry("schedule.name", "model.optim.sched.name", _schedule, never),
    Entry("schedule.name", "optim.lr_scheduler._target_", _schedule, never),
    Entry("schedule.name", "model.lr_scheduler._target_", _schedule, never),
    *(Entry(f"schedule.{key}", f"{section}.{key}", not_null)
      for section in ("model.optim.sched", "optim.lr_scheduler", "model.lr_scheduler")
      for key in ("warmup_steps", "warmup_ratio", "min_lr")),
    # batch and length of the run
    *(Entry("batch.micro", f"{section}.micro_batch_size", not_null)
      for section in ("model", "data.common", "model.data.train_ds", "data.train_ds")),
    *(Entry("batch.global", f"{section}.global_batch_size", not_null)
      for section in ("model", "data.common", "model.data.train_ds", "data.train_ds")),
    Entry("batch.micro", "data.train_ds.batch_size", not_null),
    Entry("batch.accumulation", "trainer.accumulate_grad_batches", not_null),
    Entry("batch.drop_last", "model.data.train_ds.drop_last", not_null),
    Entry("train.epochs", "trainer.max_epochs", _positive),
    Entry("train.max_steps", "trainer.max_steps", not_null),
    Entry("train.seed", "model.seed", not_null),
    Entry("train.enabled", "inference", always(canonical=False), never, True),
    Entry("train.early_stopping_patience", "exp_manager.early_stopping_callback_params.patience", not_null),
    Entry("train.logging_steps", "trainer.log_every_n_steps", not_null),
    # precision
    *(Entry(f"precision.{word}", key, not_null, _for_true(told))
      for key in ("trainer.precision", "plugins.precision") for word, told in _PRECISIONS.items()),
    Entry("precision.pure_bf16", "trainer.precision", lambda name: name == "bf16-true", never),
    # data
    Entry("data.datasets", "model.data.train_ds.file_names", _files, never),
    Entry("data.eval_dataset", "model.data.validation_ds.file_names", _files, never),
    Entry("data.sequence_len", "model.data.train_ds.max_seq_length", not_null),
    Entry("data.sequence_len", "data.common.max_seq_length", not_null),
    Entry("data.packing", "model.data.train_ds.packed_sequence", not_null),
    Entry("data.train_on_inputs", "model.answer_only_loss", lambda on: not on if isinstance(on, bool) else SKIP,
          lambda on: not on if isinstance(on, bool) else SKIP),
    # evaluation and checkpoints
    Entry("eval.steps", "trainer.val_check_interval", _steps),
    Entry("checkpoint.output_dir", "exp_manager.explicit_log_dir", not_null),
    Entry("checkpoint.resume_from", "model.resume_from_checkpoint", not_null),
    Entry("checkpoint.save_total_limit", "exp_manager.checkpoint_callback_params.save_top_k", _positive),
    # devices
    Entry("dist.fsdp", "model.fsdp", not_null),
    *(Entry(f"dist.{field}", f"{section}.{key}", not_null)
      for section in ("model", "strategy")
      for field, key in (
          ("tensor_parallel", "tensor_model_parallel_size"), ("context_parallel", "context_parallel_size"))),
)  # fmt: skip

READER = Reader(
    name="nemo",
    title="NeMo",
    dialect="omegaconf",
    table=TABLE,
    keys="nemo",
    coerces=False,
    packages=("nemo-toolkit", "torch"),
    combine=combine,
    observe=(observe_shares,),
    references=True,
    partial=inherits,
)
