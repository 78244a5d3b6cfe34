"""The rows of a script: those of the files that carry the same classes' fields, each below the name of its class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from loralint.frameworks.convert import always, device, dtype, long_dtype, lower, never, not_null, true_for, when_true
from loralint.frameworks.python.classes import CLASSES, SENTENCES
from loralint.frameworks.python.loop import loop_rows, optimizer_rows
from loralint.frameworks.python.unsloth import UNSLOTH_DEFAULTS, UNSLOTH_LOAD, UNSLOTH_WRAP
from loralint.frameworks.readers.peft import TABLE as PEFT
from loralint.frameworks.readers.training_arguments import SHARES, TRAINING_ARGUMENTS
from loralint.frameworks.readers.trl import DATA, OWN, adapter_dtype
from loralint.frameworks.table import SKIP, Entry, Look
from loralint.model import Unknown

FULL_PRECISION = 16
# what a trainer's arguments say of the optimizer and of the schedule
_OPTIMIZER = frozenset(row.field for row in TRAINING_ARGUMENTS if row.field.startswith("optim.")) - {
    "optim.max_grad_norm"
}
_SCHEDULE = frozenset(row.field for row in TRAINING_ARGUMENTS if row.field.startswith("schedule."))
# what the file of an adapter says of itself, and a script says otherwise or not at all
_OF_THE_FILE = frozenset({"model.base", "adapter.method"})


_HIDDEN = "the script does not show how the model is loaded"


class Shape(NamedTuple):
    """What a start is made of; starts of one shape share their table.

    framework: trl, transformers or peft. arguments, trainer, adapter, quantiser: names of classes, "" for none. load:
    "unsloth", "auto", a class of Sentence Transformers, "name" (a trainer that gets the model's name), or "" when
    nobody sees how the model is loaded.
    method: adapter.method of a script without an adapter's config. task: train.task. open: (section, why more of its
    keys may be given), and ("quantisation", why nobody knows whether the model is). cast: False when the adapter
    keeps the dtype of the model. optimizer, accelerator, batches: of a loop of its own. whole: the model is
    loaded before anything is made that knows of ZeRO-3.
    """

    framework: str
    arguments: str = ""
    trainer: str = ""
    adapter: str = ""
    quantiser: str = ""
    load: str = ""
    wrap: str = ""
    method: object = SKIP
    task: str = ""
    open: tuple[tuple[str, str], ...] = ()
    cast: bool = True
    whole: bool = False
    optimizer: str = ""
    accelerator: bool = False
    batches: str = ""


def under(prefix: str, rows: Iterable[Entry]) -> tuple[Entry, ...]:
    """The same rows for keys that stand below another one."""
    return tuple(row._replace(key=f"{prefix}.{row.key}") if row.key else row for row in rows)


@cache
def table(shape: Shape) -> tuple[Entry, ...]:
    """All rows of a shape, in order of precedence. Kept for good: other modules know a table by its identity."""
    rows = (*_model(shape), *_adapter(shape), *_quantisation(shape), *_arguments(shape))
    reasons = dict(shape.open)
    return tuple(_opened(row, reasons) for row in rows)


def _opened(row: Entry, reasons: dict[str, str]) -> Entry:
    """A row whose key may be given by what nobody sees: then it has no default that one could rely on."""
    why = reasons.get(row.key.partition(".")[0]) if row.key else None
    return row if why is None else row._replace(default=Unknown(why))


def _adapter(shape: Shape) -> Iterator[Entry]:
    if shape.wrap == "unsloth":
        yield from under("get_peft_model", UNSLOTH_WRAP)
    elif shape.adapter:
        method = CLASSES[shape.adapter].word
        yield Entry("adapter.method", shape.adapter, always(method), never)
        yield from under(shape.adapter, tuple(row for row in PEFT if row.field not in _OF_THE_FILE))
    else:
        yield Entry("adapter.method", "", write=never, default=shape.method)
    yield Entry("adapter.resume_from", "PeftModel.model_id", not_null, never)
    yield Entry("adapter.inference", "", write=never, default=False)
    yield Entry("adapter.dtype", "", write=never, default=_adapter_dtype(shape))


def _adapter_dtype(shape: Shape) -> Callable[[Look], object]:
    def default(look: Look) -> object:
        if look.get("adapter.method").value != "lora":
            return SKIP
        if shape.framework == "trl" and shape.load != "unsloth":
            return adapter_dtype(look)
        quantised = look.get("quant.bits").value != FULL_PRECISION
        # until 0.5 it is made in fp32 and only moved to the device; then it took its layer's dtype
        casts = (shape.cast and look.version_is("peft>=0.12")) or look.version_is("peft<0.6")
        return "fp32" if casts or quantised else look.get("model.dtype").value

    return default


def _quantisation(shape: Shape) -> Iterator[Entry]:
    if shape.load == "unsloth":
        return
    if shape.quantiser == "BitsAndBytesConfig":
        yield from under("BitsAndBytesConfig", _BITSANDBYTES)
    elif shape.quantiser:
        word = CLASSES[shape.quantiser].word
        yield Entry("quant.method", shape.quantiser, always(word), never)
        yield Entry("quant.bits", f"{shape.quantiser}.bits", not_null)
        yield Entry("quant.bits", shape.quantiser, always(Unknown(f"{shape.quantiser} does not say its bits")), never)
    head = "from_pretrained" if shape.load == "auto" else ""
    if head:
        yield from under(head, _OLD_SWITCHES)
    if head and not shape.quantiser:  # where it would stand
        yield Entry("quant.storage_dtype", "BitsAndBytesConfig.bnb_4bit_quant_storage", dtype, never)
    if shape.load in SENTENCES:
        given = Unknown("`model_kwargs` may say that the model is quantised")
        yield Entry("quant.bits", f"{shape.load}.model_kwargs", always(given), never)
    why = dict(shape.open).get("quantisation") or ("" if shape.load else _HIDDEN)
    yield Entry("quant.bits", "", write=never, default=Unknown(why) if why else FULL_PRECISION)


_OLD_SWITCHES = (
    Entry("quant.bits", "load_in_4bit", when_true(4), never),
    Entry("quant.bits", "load_in_8bit", when_true(8), never),
    Entry("quant.method", "load_in_4bit", when_true("bnb"), never),
    Entry("quant.method", "load_in_8bit", when_true("bnb"), never),
)


def _of_4bit(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


_BITSANDBYTES = (
    Entry("quant.bits", "load_in_4bit", when_true(4), true_for(4)),
    Entry("quant.bits", "load_in_8bit", when_true(8), true_for(8)),
    Entry("quant.method", "load_in_4bit", when_true("bnb"), never),
    Entry("quant.method", "load_in_8bit", when_true("bnb"), never),
    Entry("quant.type", "bnb_4bit_quant_type", lower, default=_of_4bit("fp4")),
    Entry("quant.double", "bnb_4bit_use_double_quant", not_null, default=_of_4bit(answer=False)),
    Entry("quant.compute_dtype", "bnb_4bit_compute_dtype", dtype, long_dtype, default=_of_4bit("fp32")),
    Entry("quant.storage_dtype", "bnb_4bit_quant_storage", dtype, long_dtype, default=_of_4bit("uint8")),
)


def _dtype(look: Look) -> object:
    """float32 unless asked for otherwise, before 5.0; since then what the checkpoint is stored in."""
    if look.version_is(SHARES):
        return "auto"
    return "fp32" if look.get("quant.bits").value == FULL_PRECISION else "fp16"


def _named_dtype(look: Look) -> object:
    """TRL says float32 by name since 0.27."""
    return "fp32" if look.version_is("trl>=0.27") else _dtype(look)


def _model_rows(default: Callable[[Look], object]) -> tuple[Entry, ...]:
    return (
        Entry("model.dtype", "dtype", dtype, long_dtype, default, when="transformers>=4.56"),
        Entry("model.dtype", "dtype", dtype, never, when="transformers<4.56"),
        Entry("model.dtype", "torch_dtype", dtype, long_dtype, default, when="transformers<4.56"),
        Entry("model.dtype", "torch_dtype", dtype, never, when="transformers>=4.56"),
        Entry("model.attention", "attn_implementation", not_null),
        Entry("model.attention", "use_flash_attention_2", when_true("flash_attention_2"), never),
        Entry("model.use_cache", "use_cache", not_null),
        Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
        Entry("dist.device_map", "device_map", device),
    )


def _model(shape: Shape) -> Iterator[Entry]:
    if shape.load == "unsloth":
        yield from under("from_pretrained", UNSLOTH_LOAD)
    elif shape.load == "auto":
        yield Entry("model.base", "from_pretrained.pretrained_model_name_or_path", not_null)
        yield Entry("model.class", "from_pretrained.class", not_null, never)
        yield from under("from_pretrained", _model_rows(_dtype))
        yield Entry("dist.split_at_load", "", write=never, default=not shape.whole)
    elif shape.load in SENTENCES:
        yield Entry("model.base", f"{shape.load}.model_name_or_path", not_null)
    elif shape.load == "name":
        yield Entry("model.base", f"{shape.trainer}.model", not_null)
        yield from under(f"{shape.arguments}.model_init_kwargs", _model_rows(_named_dtype))


def _arguments(shape: Shape) -> Iterator[Entry]:
    if not shape.arguments:
        yield from loop_rows(shape.optimizer, shape.accelerator, shape.batches)
        yield Entry("train.task", "", write=never, default=shape.task or SKIP)
        return
    for old in _OLD_TRAINER if shape.framework == "trl" and shape.trainer else ():
        yield old._replace(key=f"{shape.trainer}.{old.key}")
    own = (*DATA, *OWN) if shape.framework == "trl" else ()
    replaced = {(row.field, row.key) for row in own}
    rest = (row for row in TRAINING_ARGUMENTS if (row.field, row.key) not in replaced)
    rows = tuple(row for row in (*own, *rest) if row.field != "data.datasets")
    yield from _with_handed(shape, under(shape.arguments, _patched(rows, shape) if shape.load == "unsloth" else rows))
    yield Entry("train.task", "", write=never, default=shape.task or SKIP)


def _with_handed(shape: Shape, rows: Iterable[Entry]) -> Iterator[Entry]:
    """The rows of the arguments, those of the optimizer and the schedule from where the trainer is handed them."""
    reasons = dict(shape.open)
    given = (("optimizer", _OPTIMIZER), ("schedule", _SCHEDULE))
    unseen = {field: reasons[head] for head, fields in given if head in reasons for field in fields}
    replaced = {*unseen, *(_OPTIMIZER if shape.optimizer else ())}
    for row in rows:
        if row.field not in replaced:
            rate = row.field == "optim.lr" and "rate" in reasons
            yield row._replace(default=Unknown(reasons["rate"])) if rate else row
    yield from optimizer_rows(shape.optimizer) if shape.optimizer else ()
    yield from (Entry(field, "", write=never, default=Unknown(why)) for field, why in sorted(unseen.items()))


def _patched(rows: tuple[Entry, ...], shape: Shape) -> Iterator[Entry]:
    """The rows as Unsloth has them: the model's own length and checkpointing count, and TRL's defaults are others."""
    if shape.framework == "trl":
        yield from _UNSLOTH_LENGTHS
    yield Entry("precision.bf16", "bf16", not_null, default="auto")
    for row in rows:
        if row.field == "memory.gradient_checkpointing":
            yield row._replace(default=SKIP)
        elif row.field not in ("data.sequence_len", "precision.bf16"):
            own = shape.framework == "trl" and row.field in UNSLOTH_DEFAULTS and row.default is not SKIP
            yield row._replace(default=UNSLOTH_DEFAULTS[row.field]) if own else row


# what the trainers themselves took, up to 0.12
_OLD_TRAINER = (
    Entry("data.sequence_len", "max_seq_length", not_null, never),
    Entry("data.sequence_len", "max_length", not_null, never),
    Entry("data.packing", "packing", not_null, never),
    Entry("pref.beta", "beta", not_null, never),
    Entry("pref.loss", "loss_type", not_null, never),
    Entry("train.neftune_alpha", "neftune_noise_alpha", not_null, never),
)


def _unsloth_length(look: Look) -> object:
    """The length that the model is loaded for; until June 2025 TRL's own, which no length of the model replaced."""
    if look.version_is("unsloth<2025.6"):
        return 1024 if look.version_is("trl>=0.16") else SKIP
    return look.get("model.loaded_len").value or SKIP


# of both the model's own length and this the smaller counts
_UNSLOTH_LENGTHS = (
    Entry("data.sequence_len", "max_length", not_null, default=_unsloth_length),
    Entry("data.sequence_len", "max_seq_length", not_null, never),
)
