"""litgpt: `litgpt finetune_lora|finetune_full|finetune_adapter --config FILE`, parsed by jsonargparse.

The command is no key: `lora_*` keys tell LoRA. Six switches name what is adapted; they get PEFT's names of a Llama
here, since litgpt converts every model to modules of its own. The schedule is a cosine down to 0 in every finetuning
command, and `train.min_lr` is for pretraining alone.
Sources: litgpt 0.3.0, 0.4.0, 0.4.13, 0.5.0, 0.5.7 and 0.5.13 `finetune/lora.py`, `finetune/full.py`, `args.py`,
`utils.py`; jsonargparse 4.41.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from loralint.frameworks.convert import never, not_null
from loralint.frameworks.flags import as_flags
from loralint.frameworks.readers.litgpt_faults import observe_faults
from loralint.frameworks.readers.litgpt_values import SWITCHES, accumulation, combine, several_devices
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

# precision -> (mixed in, weights in); absent it is mixed, in bf16 where the GPU has that
_PRECISIONS = {
    "bf16-true": ("bf16", "bf16"),
    "bf16-mixed": ("bf16", "fp32"),
    "bf16": ("bf16", "fp32"),
    "16-true": ("fp16", "fp16"),
    "16-mixed": ("fp16", "fp32"),
    "16": ("fp16", "fp32"),
    "32-true": ("fp32", "fp32"),
    "32": ("fp32", "fp32"),
}
_WRITTEN = {"bf16": "bf16-true", "fp16": "16-true", "fp32": "32-true"}
_QUANTISED = {"bnb.nf4": 4, "bnb.nf4-dq": 4, "bnb.fp4": 4, "bnb.fp4-dq": 4, "bnb.int8-training": 8}
_UNQUANTISED = 16
_COMMAND = Unknown("no key says which finetuning command reads the file")

Convert = Callable[[object], object]


def base(value: object) -> object:
    """Read a checkpoint's folder as the Hub id that `litgpt download` names it by."""
    return value.removeprefix("checkpoints/") if isinstance(value, str) and value.count("/") == 2 else not_null(value)


def _computes_in(answers: dict[str, object]) -> Convert:
    return lambda value: answers.get(_PRECISIONS.get(str(value), ("", ""))[0], SKIP)


def _stores_in(answers: dict[str, object]) -> Convert:
    return lambda value: answers.get(_PRECISIONS.get(str(value), ("", ""))[1], SKIP)


_DTYPES: dict[str, object] = {"bf16": "bf16", "fp16": "fp16", "fp32": "fp32"}


def _is(dtype: str) -> dict[str, object]:
    return {one: one == dtype for one in _DTYPES}


def written_precision(value: object) -> object:
    """Write a dtype for weights and products alike."""
    return _WRITTEN.get(str(value), SKIP)


def written_bf16(value: object) -> object:
    """Write bf16 for weights and products."""
    return "bf16-true" if value is True else SKIP


def written_fp16(value: object) -> object:
    """Write fp16 for products, and the word itself where `uncombine` has chosen one."""
    return value if isinstance(value, str) else "16-mixed" if value is True else SKIP


def uncombine(field: str, value: object, look: Look) -> object:
    """Choose fp16 for weights and products alike where they are quantised, which excludes mixed precision."""
    quantised = look.get("quant.bits").value != _UNQUANTISED
    return "16-true" if field == "precision.fp16" and value is True and quantised else value


def bits(value: object) -> object:
    """Read the bits of `quantize`; null is none."""
    return _UNQUANTISED if value is None else _QUANTISED.get(str(value), SKIP)


def written_bits(value: object) -> object:
    """Write the usual way to so many bits."""
    return {4: "bnb.nf4", 8: "bnb.int8-training", 16: None}.get(value, SKIP) if isinstance(value, int) else SKIP


def data_type(value: object) -> object:
    """Read nf4 or fp4."""
    return str(value)[4:7] if str(value).startswith(("bnb.nf4", "bnb.fp4")) else SKIP


def double(value: object) -> object:
    """Read whether the constants of 4-bit weights are quantised too."""
    return str(value).endswith("-dq") if data_type(value) is not SKIP else SKIP


def written_double(value: object) -> object:
    """Write 4 bits with that."""
    return {True: "bnb.nf4-dq", False: "bnb.nf4"}.get(value, SKIP) if isinstance(value, bool) else SKIP


def optimizer(value: object) -> object:
    """Read a name or class; a mapping has a class of its own below."""
    return value.lower() if isinstance(value, str) else SKIP


def part(index: int) -> Convert:
    """Make a conversion that reads one of Adam's two betas."""
    return lambda value: value[index] if isinstance(value, list) and len(value) == 2 else SKIP


def by_optimizer(adamw: object, adam: object, sgd: object) -> Callable[[Look], object]:
    """Make a default of torch's optimizers, which litgpt builds with what the file says and nothing else."""

    def default(look: Look) -> object:
        name = str(look.get("optim.name").value)
        return next((value for word, value in (("adamw", adamw), ("adam", adam), ("sgd", sgd)) if word in name), SKIP)

    return default


def counted(value: object) -> object:
    """Read how many devices take part; `auto` takes all that are there."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole else Unknown("`devices` takes what the machine has")


def every(value: object) -> object:
    """Read a distance in steps as a strategy: null is never."""
    return "no" if value is None else "steps"


def trackers(value: object) -> object:
    """Read the logger; CSV is a file and no tracker."""
    return [] if value == "csv" else [value] if isinstance(value, str) else SKIP


def dataset(value: object) -> object:
    """Read the name of a data module."""
    return [value.rpartition(".")[2]] if isinstance(value, str) else SKIP


def path(value: object) -> object:
    """Read the file that a data module loads."""
    return [value] if isinstance(value, str) else SKIP


def first(value: object) -> object:
    """Write the one file that there can be."""
    return value[0] if isinstance(value, list) and len(value) == 1 else SKIP


def negated(value: object) -> object:
    """Read or write a switch that says the opposite of its field."""
    return not value if isinstance(value, bool) else SKIP


def on_lora(answer: object, other: object) -> Callable[[Look], object]:
    """Make a default that `finetune_lora` sets otherwise than `finetune_full`."""
    return lambda look: other if look.get("adapter.method").value == "full" else answer


def quantised(answer: object) -> Callable[[Look], object]:
    """Make a default of quantised weights."""
    return lambda look: answer if look.get("quant.bits").value != _UNQUANTISED else SKIP


def compute_dtype(look: Look) -> object:
    """Give the dtype of 4-bit products, which is that of the weights that stay."""
    return look.get("model.dtype").value if look.get("quant.bits").value != _UNQUANTISED else SKIP


def adapter_dtype(look: Look) -> object:
    """Give the dtype that all weights are made in, those of the adapter included."""
    return look.get("model.dtype").value


TABLE = (
    # the model and what of it trains
    Entry("model.base", "checkpoint_dir", base),
    Entry("model.dtype", "precision", _stores_in(_DTYPES), written_precision, "fp32"),
    *(Entry("adapter.targets", key, write=never) for key in SWITCHES),
    Entry("adapter.targets", "", write=never, default=["q_proj", "v_proj"]),
    *(Entry("adapter.method", key, lambda _: "lora", never) for key in ("lora_r", "lora_alpha", *SWITCHES)),
    Entry("adapter.method", "resume", lambda _: "full", never, _COMMAND),
    Entry("adapter.rank", "lora_r", not_null, default=8),
    Entry("adapter.alpha", "lora_alpha", not_null, default=16),
    Entry("adapter.dropout", "lora_dropout", not_null, default=0.05),
    Entry("adapter.bias", "", write=never, default="none"),
    Entry("adapter.rslora", "", write=never, default=False),
    Entry("adapter.dora", "", write=never, default=False),
    Entry("adapter.init", "", write=never, default="true"),
    Entry("adapter.dtype", "precision", _stores_in(_DTYPES), written_precision, adapter_dtype),
    # quantisation
    Entry("quant.bits", "quantize", bits, written_bits, _UNQUANTISED),
    Entry("quant.method", "quantize", lambda value: "bnb" if str(value).startswith("bnb.") else SKIP, never),
    Entry("quant.type", "quantize", data_type, lambda value: f"bnb.{value}" if value in ("nf4", "fp4") else SKIP),
    Entry("quant.double", "quantize", double, written_double),
    Entry("quant.compute_dtype", "", write=never, default=compute_dtype),
    Entry("quant.storage_dtype", "", write=never, default=quantised("uint8")),
    # optimizer and schedule; up to 0.3 its numbers stood below `train`
    Entry("optim.name", "optimizer.class_path", optimizer, never),
    Entry("optim.name", "optimizer", optimizer, never, "adamw"),
    Entry("optim.lr", "optimizer.init_args.lr", not_null, default=by_optimizer(1e-3, 1e-3, 1e-3), when="litgpt>=0.4"),
    Entry("optim.lr", "optimizer.lr", not_null, never, when="litgpt>=0.4"),
    Entry("optim.lr", "train.learning_rate", not_null, default=3e-4, when="litgpt<0.4"),
    Entry("optim.lr", "train.learning_rate", not_null, never, when="litgpt>=0.4"),
    Entry("optim.weight_decay", "optimizer.init_args.weight_decay", not_null, default=by_optimizer(0.01, 0.0, 0.0)),
    Entry("optim.weight_decay", "optimizer.weight_decay", not_null, never),
    Entry("optim.weight_decay", "train.weight_decay", not_null, never),
    Entry("optim.beta1", "optimizer.init_args.betas", part(0), never, by_optimizer(0.9, 0.9, SKIP)),
    Entry("optim.beta2", "optimizer.init_args.betas", part(1), never, by_optimizer(0.999, 0.999, SKIP)),
    Entry("optim.beta1", "train.beta1", not_null, never),
    Entry("optim.beta2", "train.beta2", not_null, never),
    Entry("optim.eps", "optimizer.init_args.eps", not_null, default=by_optimizer(1e-8, 1e-8, SKIP)),
    Entry("optim.momentum", "optimizer.init_args.momentum", not_null, default=by_optimizer(SKIP, SKIP, 0.0)),
    Entry("optim.max_grad_norm", "", write=never, default=0.0),
    Entry("schedule.name", "", write=never, default="cosine"),
    Entry("schedule.min_lr", "", write=never, default=0.0),
    Entry("schedule.warmup_steps", "train.lr_warmup_steps", not_null, default=100),
    # batches and steps
    Entry("batch.global", "train.global_batch_size", not_null, default=16),
    Entry("batch.micro", "train.micro_batch_size", not_null, default=1),
    Entry("run.gpu_count", "devices", counted, never, 1),
    Entry("batch.accumulation", "train.global_batch_size", never, never, accumulation),  # follows from the batch
    Entry("batch.drop_last", "", write=never, default=False),
    Entry("train.task", "", write=never, default="sft"),
    Entry("train.enabled", "", write=never, default=True),
    Entry("train.epochs", "train.epochs", not_null, default=5),
    Entry("train.max_steps", "train.max_steps", not_null),
    Entry("train.seed", "seed", not_null, default=1337),
    Entry("train.report_to", "logger_name", trackers, never, []),
    # precision
    Entry("precision.bf16", "precision", _computes_in(_is("bf16")), written_bf16, "auto"),
    Entry("precision.fp16", "precision", _computes_in(_is("fp16")), written_fp16, default=False),
    Entry("precision.pure_bf16", "precision", _stores_in(_is("bf16")), written_bf16, default=False),
    # data, evaluation, checkpoints
    Entry("data.datasets", "data.init_args.json_path", path, first),
    Entry("data.datasets", "data.json_path", path, never),
    Entry("data.datasets", "data.class_path", dataset, never),
    Entry("data.datasets", "data", dataset, never, ["Alpaca"]),
    Entry("data.sequence_len", "train.max_seq_length", not_null),
    Entry("data.packing", "", write=never, default=False),
    Entry("data.train_on_inputs", "data.init_args.mask_prompt", negated, negated, default=True),
    Entry("data.train_on_inputs", "data.mask_prompt", negated, never),
    Entry("data.template", "data.init_args.prompt_style", not_null, default="alpaca"),
    Entry("data.template", "data.prompt_style", not_null, never),
    Entry("data.val_size", "data.init_args.val_split_fraction", not_null),
    Entry("data.val_size", "data.val_split_fraction", not_null, never),
    Entry("eval.strategy", "eval.interval", every, never, "steps"),
    Entry("eval.steps", "eval.interval", not_null, default=on_lora(100, 600)),
    Entry("checkpoint.output_dir", "out_dir", not_null, default=on_lora("out/finetune/lora", "out/finetune/full")),
    Entry("checkpoint.save_strategy", "train.save_interval", every, never, "steps"),
    Entry("checkpoint.save_steps", "train.save_interval", not_null, default=1000),
    Entry("checkpoint.resume_from", "resume", lambda value: value if isinstance(value, str) else SKIP),
    Entry("memory.gradient_checkpointing", "", write=never, default=several_devices),
)  # fmt: skip

READER = Reader(
    name="litgpt",
    title="litgpt",
    dialect="jsonargparse",
    table=TABLE,
    keys="litgpt",
    coerces=True,
    packages=("litgpt", "torch", "bitsandbytes"),
    observe=(observe_faults,),
    combine=combine,
    uncombine=uncombine,
)

_METHODS = {"finetune_lora": "lora", "finetune_full": "full"}


@cache
def reader_of(command: str) -> Reader:
    """The reader of the flags behind a command, which says the method."""
    method = _METHODS.get(command)

    def told(document: Document, values: Values) -> Values:
        said = {"adapter.method": (Value(method, origin="derived", field="adapter.method"),)} if method else {}
        return {**combine(document, values), **said}

    return as_flags(READER)._replace(combine=told)
