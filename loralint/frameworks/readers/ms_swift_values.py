"""How ms-swift's values turn into canonical ones where a key alone does not say it, and what it takes by default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

from loralint.frameworks.convert import dtype, lower, not_null
from loralint.frameworks.table import SKIP, Look, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_ROWS_PER_STEP = 16  # what an absent gradient_accumulation_steps aims at
_PAIRS = ("dpo", "orpo", "simpo", "kto", "cpo", "rm", "ppo", "grpo", "kd")  # no sets: a value may be a list
_PREQUANTISED = ("awq", "gptq", "gptq_v2")
_ALL_LINEAR = {"all-linear", "ALL"}
_LEFT_TO_THE_MODEL = {"DEFAULT", "AUTO"}
UNQUANTISED = 16
_NOTHING = 0
# What the words say that `deepspeed` takes for files of ms-swift, swift/config/*.json; version 2 put a word before.
_WORDS = {f"{start}{name}": name for name in ("zero0", "zero1", "zero2", "zero3", "zero2_offload", "zero3_offload")
          for start in ("", "default-")}  # fmt: skip
PRESETS: dict[str, dict[object, object]] = {
    "dist.zero_stage": {word: int(name[4]) for word, name in _WORDS.items()},
    "dist.ds_gather": {word: True for word, name in _WORDS.items() if name.startswith("zero3")},
    "dist.ds_offload_optimizer": {word: "cpu" for word, name in _WORDS.items() if name.endswith("offload")},
    "dist.ds_offload_param": {word: "cpu" for word, name in _WORDS.items() if name == "zero3_offload"},
}
_DIGITS = 12  # no dataset counts more rows than that


def first(value: object) -> object:
    """Read one name, or the first of several."""
    if isinstance(value, list):
        return value[0] if value else SKIP
    return SKIP if value is None else value


def targets(value: object) -> object:
    """Read names; unlike in PEFT, all-linear also counts inside a list, and a text is one name whatever its commas."""
    if value is None:
        return SKIP
    several = value if isinstance(value, list) else [value]
    if any(name in _ALL_LINEAR for name in several if isinstance(name, str)):
        return "all-linear"
    return SKIP if any(name in _LEFT_TO_THE_MODEL for name in several if isinstance(name, str)) else several


def written_targets(value: object) -> object:
    """Write names or all-linear; a regular expression has a key of its own, which this one would not replace."""
    return value if isinstance(value, list) or value in ("all-linear", "") else SKIP


def old_targets(value: object) -> object:
    """Write names as version 2 wants them."""
    return "ALL" if value == "all-linear" else written_targets(value)


def method(value: object) -> object:
    """Read a tuner; `lora_llm` is LoRA with the rest of a multimodal model trained in full."""
    return "lora" if lower(value) == "lora_llm" else not_null(lower(value))


def task(value: object) -> object:
    """Read a method of `swift rlhf`; GKD is distillation."""
    return "kd" if lower(value) == "gkd" else not_null(lower(value))


def distilling(teacher: object) -> object:
    """Read a teacher: GKD distils, and so does GRPO with one, which then needs no group of completions."""
    return "kd" if teacher else SKIP


def plugin(value: object) -> object:
    """Read an optimizer of ms-swift's own; its other plugins only group the parameters of the Trainer's."""
    return value if value in ("muon", "galore") else SKIP


def preset(said: Mapping[object, object]) -> Callable[[object], object]:
    """Read what a file of ms-swift's own says; the path of another one says nothing here."""
    return lambda name: said.get(name, SKIP) if isinstance(name, str) else SKIP


def told(value: object) -> object:
    """Read AUTO as an absent key."""
    return SKIP if value == "AUTO" else not_null(value)


def told_dtype(value: object) -> object:
    """Read AUTO as an absent dtype."""
    return SKIP if value == "AUTO" else dtype(value)


def positive(value: object) -> object:
    """Read a number of rows; -1 is all of them."""
    return value if isinstance(value, int) and value > 0 else SKIP


def short_dtype(value: object) -> object:
    """Write a dtype as version 2 spells it."""
    return "AUTO" if value == "auto" else value


def some_bits(value: object) -> object:
    """Read bits; 0 meant none, and `float8` is a format of its own."""
    return UNQUANTISED if value == _NOTHING else 8 if value == "float8" else not_null(value)


def written_bits(value: object) -> object:
    """Write bits below 16; not to quantise is to leave the key out."""
    return value if isinstance(value, int) and value < UNQUANTISED else SKIP


def init(value: object) -> object:
    """Read the start of A and B: true and false are words here."""
    return SKIP if value is None else str(value).lower().replace("-", "_")


def has_pairs(look: Look) -> bool:
    """Tell a method of `swift rlhf` from plain training."""
    return look.get("train.task").value in _PAIRS


def rate(look: Look) -> object:
    """Give the learning rate, ten times lower where the whole model trains."""
    return 1e-5 if look.get("adapter.method").value == "full" else 1e-4


def accumulation(look: Look) -> object:
    """Give what brings a step to 16 rows over all devices, one device where nobody counts them."""
    micro = look.get("batch.micro").value
    if not isinstance(micro, int) or isinstance(micro, bool) or micro < 1:
        return Unknown("the batch size per device is unknown")
    return max(1, ceil(_ROWS_PER_STEP / micro / _devices(look)))


def _devices(look: Look) -> int:
    count = look.get("run.gpu_count").value
    gpu = look.get("run.gpu").value
    if not isinstance(count, int) and isinstance(gpu, str):
        from loralint.knowledge.hardware import parse_gpus

        count = parse_gpus(gpu)[1]
    return count if isinstance(count, int) and count > 0 else 1


def mixed(*dtypes: str) -> Callable[[Look], object]:
    """Make the default of a mixed-precision switch, which follows the dtype that the model is loaded in.

    fp32 weights train under fp16 autocast since version 3, and without any before.
    """

    def default(look: Look) -> object:
        loaded = _loaded(look)
        if loaded == "fp32" and look.version_is("ms-swift<3"):
            return False
        return loaded if isinstance(loaded, Unknown) else loaded in dtypes

    return default


def compute_dtype(look: Look) -> object:
    """Give the dtype of 4-bit products: that of the model, but fp32 for fp16 since version 3."""
    if look.get("quant.bits").value != 4:
        return SKIP
    loaded = _loaded(look)
    return "fp32" if loaded == "fp16" and not look.version_is("ms-swift<3") else loaded


def _loaded(look: Look) -> object:
    """The dtype that the model is loaded in: as told, else as it was published."""
    told, base = look.get("model.dtype").value, look.get("model.base").value
    if told in ("bf16", "fp16", "fp32") or isinstance(told, Unknown):
        return told
    from loralint.knowledge.models import find

    found = find(base) if isinstance(base, str) else None
    if found is None or found.dtype not in ("bf16", "fp16"):
        return Unknown("without a dtype in the file, that of the model's own config decides")
    return found.dtype


def eval_strategy(look: Look) -> object:
    """Give the strategy: version 2 evaluates by steps, later ones as they save, and not at all without rows for it."""
    if look.version_is("ms-swift<3"):
        return "steps"
    share = look.get("data.val_size").value
    held_out = isinstance(share, (int, float)) and share > 0
    return look.get("checkpoint.save_strategy").value if held_out or look.get("data.eval_dataset").known else "no"


def eval_steps(look: Look) -> object:
    """Give the steps between evaluations: 50 or 200 in version 2, those between checkpoints since."""
    if look.get("eval.strategy").value != "steps":
        return SKIP
    if look.version_is("ms-swift<3"):
        return 200 if look.get("adapter.method").value == "full" else 50
    return look.get("checkpoint.save_steps").value


def settle(document: Document, values: Values) -> Values:
    """Decide what needs two keys: bits without a method, losses of plain training, rows that datasets' names count."""
    del document
    fields: dict[str, tuple[Value, ...]] = {}
    bits, method = values.get("quant.bits", ()), values.get("quant.method", ())
    if bits and bits[0].key.endswith("quant_bits") and not method:
        fields["quant.bits"] = (bits[0]._replace(value=16),)
    if method and method[0].value in _PREQUANTISED and "quant.bits" in values:
        fields["quant.bits"] = (bits[0]._replace(value=16),)
    if "pref.loss" in values and not any(task.value in _PAIRS for task in values.get("train.task", ())):
        fields["pref.loss"] = ()
    rows = _rows(values)
    if rows is not None:
        fields["run.rows"] = (rows,)
    return fields


def _rows(values: Values) -> Value | None:
    """Add up `#500` at the end of every dataset's name, as many rows as it trains on, less those held out."""
    named = values.get("data.datasets", ())
    if not named or not isinstance(named[0].value, list) or "data.streaming" in values:
        return None
    counts = [
        count if mark and count.isdecimal() and len(count) < _DIGITS else ""
        for mark, count in map(_cut, named[0].value)
    ]
    if not all(counts):
        return None
    share = next((value.value for value in values.get("data.val_size", ())), 0)
    if not isinstance(share, (int, float)) or not 0 <= share < 1:
        return None
    total = round(sum(int(count) for count in counts) * (1 - share))
    return named[0]._replace(value=total, origin="derived", field="run.rows", items=(), source="the counts behind #")


def _cut(name: object) -> tuple[str, str]:
    _, mark, count = str(name).rpartition("#")
    return mark, count
