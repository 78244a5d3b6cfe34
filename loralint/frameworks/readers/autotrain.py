"""AutoTrain Advanced (0.8.36 read): `task`, `base_model`, `data`, and the trainer's own names below `params`.

`peft` is off unless written, and without it neither `lora_*` nor `quantization` counts. What the trainers fix
themselves (packing, NF4 with fp16 products) is a default here. Tasks other than `llm` have defaults of their own,
which this reader does not claim to know.
Sources: autotrain-advanced 0.8.36 parser.py, trainers/clm/{params,utils,train_clm_*}.py, trainers/common.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import lower, never, not_null, one_to_list, when_true, words
from loralint.frameworks.readers.autotrain_faults import cut, ignored, missing, rejected, spaced
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_BITS = {"int4": 4, "int8": 8}
_TRAINERS = {"default": "pt", "generic": "pt", "sft": "sft", "orpo": "orpo", "dpo": "dpo", "reward": "rm"}
_LANGUAGE = ("pt", "sft", "orpo", "dpo", "rm")
_FULL_PRECISION = 16
_BLOCK = 1024  # tokens, where block_size is -1
_LONGEST = 2048  # tokens, where model_max_length is absent


def _task(name: object) -> object:
    """`llm-sft` -> sft; `llm` alone is language modelling on blocks; other tasks keep their name."""
    word = str(name).lower()
    head, _, trainer = word.partition("-")
    if head == "llm":
        return _TRAINERS.get(trainer or "default", Unknown(f"autotrain has no task `{name}`"))
    return "cls" if "classification" in word else word


def _trainer(name: object) -> object:
    """`params.trainer` has the last word."""
    return _TRAINERS.get(str(name).lower(), SKIP)


def method(switch: object) -> object:
    """Read the switch between LoRA and training in full."""
    return {"true": "lora", "false": "full"}.get(str(switch).lower(), SKIP)


def _written_method(name: object) -> object:
    return {"lora": True, "full": False}.get(str(name), SKIP)


def _bits(word: object) -> object:
    """Read `int4` and `int8`; a null or any other word loads the base as it is."""
    return _BITS.get(str(word), _FULL_PRECISION)


def _written_bits(number: object) -> object:
    return (
        {4: "int4", 8: "int8"}.get(number, None if number == _FULL_PRECISION else SKIP)
        if isinstance(number, int)
        else SKIP
    )


def _targets(names: object) -> object:
    """Read `all-linear` as the word; nothing but blanks leaves the choice to PEFT."""
    if not isinstance(names, list):
        return SKIP
    return "all-linear" if [str(name).lower() for name in names] == ["all-linear"] else names or SKIP


def _written_targets(names: object) -> object:
    return ",".join(map(str, names)) if isinstance(names, list) else names if names == "all-linear" else SKIP


def _trackers(name: object) -> object:
    return [] if name in ("none", None) else one_to_list(name)


def _only_one(names: object) -> object:
    return names[0] if isinstance(names, list) and len(names) == 1 else SKIP


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _llm(answer: object) -> Callable[[Look], object]:
    """Make a default of the language-model tasks."""
    return lambda look: answer if look.get("train.task").value in _LANGUAGE else SKIP


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _of_4bit(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


def _default_bits(look: Look) -> object:
    if look.get("train.task").value not in _LANGUAGE:
        return SKIP
    return 4 if look.get("adapter.method").value == "lora" else _FULL_PRECISION


def _if_evaluated(yes: object, no: object) -> Callable[[Look], object]:
    def default(look: Look) -> object:
        if look.get("train.task").value not in _LANGUAGE:
            return SKIP
        return yes if look.get("data.eval_dataset").known else no

    return default


def _reentrant(look: Look) -> object:
    if look.get("memory.gradient_checkpointing").value is not True:
        return SKIP
    return look.get("quant.bits").value in (4, 8)


def _beta(look: Look) -> object:
    return 0.1 if look.get("train.task").value in ("dpo", "orpo") else SKIP


def combine(document: Document, values: Values) -> Values:
    """Let the switches decide: no quantisation without LoRA, no evaluation without a split, no block past the limit."""
    del document
    fields: dict[str, tuple[Value, ...]] = {}
    method = values.get("adapter.method", ())
    task = values.get("train.task", ())
    if task and task[0].value in _LANGUAGE and not (method and method[0].value == "lora"):
        fields |= {name: () for name in ("quant.bits", "quant.method") if name in values}
    if "eval.strategy" in values and "data.eval_dataset" not in values:
        fields["eval.strategy"] = fields["checkpoint.save_strategy"] = ()
    if "data.sequence_len" in values:
        fields["data.sequence_len"] = (_block(values["data.sequence_len"]),)
    return fields


def _block(lengths: tuple[Value, ...]) -> Value:
    """The block that is asked for, cut to the model's limit; rows of both keys arrive here, the block's first."""
    block = next((one for one in lengths if one.key.endswith("block_size")), None)
    limit = next((one for one in lengths if one.key.endswith("model_max_length")), None)
    most = limit.value if limit is not None else _LONGEST
    asked = block.value if block is not None else _BLOCK
    if not isinstance(most, int) or not isinstance(asked, int):
        return block or lengths[0]
    shorter = limit if limit is not None and (block is None or most < asked) else block or lengths[0]
    return shorter._replace(value=min(most, asked))


TABLE = (
    # the base model
    Entry("model.base", "base_model", not_null),
    Entry("model.dtype", "", write=never, default=_llm("fp32")),
    Entry("model.attention", "params.use_flash_attention_2", when_true("flash_attention_2"),
          lambda kernel: kernel == "flash_attention_2"),
    Entry("kernel.unsloth", "params.unsloth", not_null, default=_llm(answer=False)),
    # the adapter
    Entry("adapter.method", "params.peft", method, _written_method, "full"),
    Entry("adapter.method", "params.use_peft", method, never),  # what releases before 0.7 call it; so are the others
    Entry("adapter.rank", "params.lora_r", not_null, default=_lora(16)),
    Entry("adapter.alpha", "params.lora_alpha", not_null, default=_lora(32)),
    Entry("adapter.dropout", "params.lora_dropout", not_null, default=_lora(0.05)),
    Entry("adapter.targets", "params.target_modules", _targets, _written_targets, _lora("all-linear"), split=","),
    Entry("adapter.bias", "", write=never, default=_lora("none")),
    Entry("adapter.init", "", write=never, default=_lora("true")),
    Entry("adapter.task_type", "", write=never, default=_lora("CAUSAL_LM")),
    Entry("adapter.dtype", "", write=never, default=_lora("fp32")),
    Entry("adapter.merge_on_save", "params.merge_adapter", not_null, default=_lora(answer=False)),
    # quantisation of the base, with LoRA only
    Entry("quant.bits", "params.quantization", _bits, _written_bits, _default_bits),
    Entry("quant.method", "params.quantization", lambda word: "bnb" if str(word) in _BITS else SKIP, never,
          lambda look: "bnb" if look.get("quant.bits").value in (4, 8) else SKIP),
    Entry("quant.type", "", write=never, default=_of_4bit("nf4")),
    Entry("quant.double", "", write=never, default=_of_4bit(answer=False)),
    Entry("quant.compute_dtype", "", write=never, default=_of_4bit("fp16")),
    # optimizer and schedule
    Entry("optim.name", "params.optimizer", lower, default=_llm("adamw_torch")),
    Entry("optim.lr", "params.lr", not_null, default=_llm(3e-5)),
    Entry("optim.lr", "params.learning_rate", not_null, never),
    Entry("optim.weight_decay", "params.weight_decay", not_null, default=_llm(0.0)),
    Entry("optim.max_grad_norm", "params.max_grad_norm", not_null, default=_llm(1.0)),
    Entry("schedule.name", "params.scheduler", lower, default=_llm("linear")),
    Entry("schedule.warmup_ratio", "params.warmup_ratio", not_null, default=_llm(0.1)),
    # batch and length of the run
    Entry("batch.micro", "params.batch_size", not_null, default=_llm(2)),
    Entry("batch.micro", "params.train_batch_size", not_null, never),
    Entry("batch.accumulation", "params.gradient_accumulation_steps", not_null, never),
    Entry("batch.accumulation", "params.gradient_accumulation", not_null, default=_llm(4)),
    Entry("train.task", "params.trainer", _trainer, never),
    Entry("train.task", "task", _task, never),
    Entry("train.epochs", "params.epochs", not_null, default=_llm(1)),
    Entry("train.epochs", "params.num_train_epochs", not_null, never),
    Entry("train.seed", "params.seed", not_null, default=_llm(42)),
    Entry("train.early_stopping_patience", "params.early_stopping_patience", not_null, never),
    Entry("train.report_to", "log", _trackers, lambda names: _only_one(names) if names else "none"),
    Entry("train.logging_steps", "params.logging_steps", _positive),
    # precision
    Entry("precision.bf16", "params.mixed_precision", lambda word: word == "bf16", lambda on: "bf16" if on else SKIP,
          _llm(answer=False)),
    Entry("precision.fp16", "params.mixed_precision", lambda word: word == "fp16", lambda on: "fp16" if on else SKIP,
          _llm(answer=False)),
    # data
    Entry("data.datasets", "data.path", one_to_list,
          _only_one),
    Entry("data.eval_dataset", "data.valid_split", lambda name: SKIP if name is None else one_to_list(name),
          _only_one),
    Entry("data.template", "data.chat_template", not_null),
    Entry("data.sequence_len", "params.block_size", _positive, default=_llm(_BLOCK)),
    Entry("data.sequence_len", "params.model_max_length", _positive, never),
    Entry("data.packing", "", write=never, default=lambda look: look.get("train.task").value in ("sft", "pt")),
    # evaluation and checkpoints go together
    Entry("eval.strategy", "params.eval_strategy", lower, default=_if_evaluated("epoch", "no")),
    Entry("checkpoint.save_strategy", "params.eval_strategy", lower, never, _if_evaluated("epoch", "no")),
    Entry("checkpoint.output_dir", "project_name", not_null),
    Entry("checkpoint.save_total_limit", "params.save_total_limit", not_null, default=_llm(1)),
    Entry("checkpoint.load_best", "", write=never, default=_if_evaluated(yes=True, no=False)),
    # memory and devices
    Entry("memory.gradient_checkpointing", "params.disable_gradient_checkpointing", words({True: False, False: True}),
          words({True: False, False: True}), _llm(answer=True)),
    Entry("memory.reentrant", "", write=never, default=_reentrant),
    Entry("dist.deepspeed", "params.distributed_backend", lambda name: name if name == "deepspeed" else SKIP),
    # preference
    Entry("pref.beta", "params.dpo_beta", not_null, default=_beta),
    Entry("pref.reference_model", "params.model_ref", not_null),
)  # fmt: skip

READER = Reader(
    name="autotrain",
    title="AutoTrain",
    dialect="pyyaml",
    table=TABLE,
    keys="autotrain",
    coerces=True,
    packages=("autotrain", "transformers", "trl", "peft"),
    observe=(ignored, rejected, missing, spaced, cut),
    combine=combine,
)
