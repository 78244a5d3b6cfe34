"""Home-made YAML and JSON around the names of PEFT and TrainingArguments, in any nesting, variable or flag.

A key is known by its last name alone, so all of this is a guess: nothing absent has a default, an unknown key is
nobody's fault, and where one setting is named twice with different values it is unknown. An adapter of rank 0 is off.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loralint.frameworks.convert import dtype, lower, never, not_null, when_true
from loralint.frameworks.leaves import leaves
from loralint.frameworks.read import canonical
from loralint.frameworks.table import SKIP, Entry, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_NAMES = {
    "model.base": "base_model model_name_or_path base_model_name_or_path model_id",
    "adapter.rank": "lora_r lora_rank",
    "adapter.alpha": "lora_alpha",
    "adapter.dropout": "lora_dropout",
    "adapter.bias": "lora_bias",
    "adapter.targets": "target_modules lora_target_modules lora_targets",
    "adapter.modules_to_save": "modules_to_save lora_modules_to_save",
    "adapter.rslora": "use_rslora",
    "adapter.dora": "use_dora",
    "adapter.task_type": "task_type",
    "quant.double": "bnb_4bit_use_double_quant",
    "quant.type": "bnb_4bit_quant_type",
    "optim.lr": "learning_rate lr",
    "optim.weight_decay": "weight_decay",
    "optim.max_grad_norm": "max_grad_norm",
    "optim.beta1": "adam_beta1",
    "optim.beta2": "adam_beta2",
    "optim.eps": "adam_epsilon",
    "schedule.warmup_steps": "warmup_steps",
    "schedule.warmup_ratio": "warmup_ratio",
    "batch.micro": "per_device_train_batch_size micro_batch_size",
    "batch.eval_micro": "per_device_eval_batch_size",
    "batch.accumulation": "gradient_accumulation_steps",
    "train.epochs": "num_train_epochs num_epochs epochs",
    "train.max_steps": "max_steps",
    "train.seed": "seed",
    "train.logging_steps": "logging_steps",
    "precision.bf16": "bf16",
    "precision.fp16": "fp16",
    "precision.tf32": "tf32",
    "data.sequence_len": "max_seq_length max_seq_len max_length cutoff_len",
    "data.packing": "packing",
    "model.attention": "attn_implementation",
    "model.trust_remote_code": "trust_remote_code",
    "eval.steps": "eval_steps",
    "checkpoint.output_dir": "output_dir",
    "checkpoint.save_steps": "save_steps",
    "memory.gradient_checkpointing": "gradient_checkpointing",
}
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def _hub_id(value: object) -> object:
    """Read `owner/name`; a bare `model_name` is as often a name for the run."""
    return value if isinstance(value, str) and _HUB_ID.fullmatch(value) else SKIP


def _targets(value: object) -> object:
    """Read the targets; what a program makes of the word for every layer is its own affair."""
    return Unknown("what the program makes of `all` is not known") if value == "all" else not_null(value)


_LISTS = ("adapter.targets", "adapter.modules_to_save")
_MAPPED: tuple[tuple[str, str, Callable[[object], object]], ...] = (
    ("model.base", "model_name", _hub_id),
    ("quant.bits", "load_in_4bit", when_true(4)),
    ("quant.bits", "load_in_8bit", when_true(8)),
    ("quant.method", "load_in_4bit", when_true("bnb")),
    ("quant.method", "load_in_8bit", when_true("bnb")),
    ("quant.compute_dtype", "bnb_4bit_compute_dtype", dtype),
    ("model.dtype", "torch_dtype", dtype),
    ("optim.name", "optim", lower),
    ("schedule.name", "lr_scheduler_type", lower),
)


def combine(document: Document, values: Values) -> Values:
    """Every setting of the tree instead of those at the root, and what they say of the method."""
    fields = _everywhere(document, values)
    return {**fields, **_method(fields)}


def placed(reader: Reader, *, sure: bool) -> Reader:
    """The reader of settings beside a program that makes the adapter. sure: it does whatever they say."""
    return reader._replace(combine=_everywhere if sure else _beside)


def _beside(document: Document, values: Values) -> Values:
    """Rank 0 may tell the program to make none."""
    fields = _everywhere(document, values)
    off = any(one.value == 0 for one in fields.get("adapter.rank", ()))
    return {**fields, **{field: () for field in fields if off and field.startswith("adapter.")}}


def _everywhere(document: Document, values: Values) -> dict[str, tuple[Value, ...]]:
    """What is named twice and differs is unknown."""
    assert document.root is not None
    found: dict[str, list[Value]] = {field: [] for field in values}
    for leaf in leaves(document.root):
        for entry in _ROWS.get(leaf.name, ()):
            row = entry._replace(key=leaf.dotted, split="," if leaf.listed and entry.field in _LISTS else "")
            value = canonical(document, leaf.pair, row, READER)
            if value is not None:
                found.setdefault(entry.field, []).append(value)
    return {field: _agreed(several) for field, several in found.items()}


def _agreed(several: list[Value]) -> tuple[Value, ...]:
    first = several[:1]
    if all(one.value == first[0].value for one in several):
        return tuple(first)
    names = " and ".join(f"`{one.key}`" for one in several[:2])
    return (first[0]._replace(value=Unknown(f"{names} say different things"), items=()),)


def _method(fields: Values) -> dict[str, tuple[Value, ...]]:
    """A sized or placed adapter is LoRA; rank 0 means that there is none."""
    ranks = fields.get("adapter.rank", ())
    sign = next((one for name in ("rank", "alpha", "targets") for one in fields.get(f"adapter.{name}", ())), None)
    if sign is None:
        return {}
    off = bool(ranks) and ranks[0].value == 0
    method = Value("full" if off else "lora", "derived", sign.key, reads=(sign,), field="adapter.method")
    inert: dict[str, tuple[Value, ...]] = {field: () for field in fields if off and field.startswith("adapter.")}
    return {**inert, "adapter.method": (method,)}


TABLE = (
    Entry("adapter.method", "", read=never, write=never),
    *(
        Entry(field, name, _targets if field == "adapter.targets" else not_null)
        for field, names in _NAMES.items()
        for name in names.split()
    ),
    *(Entry(field, name, read, never) for field, name, read in _MAPPED),
)
_ROWS: dict[str, list[Entry]] = {}
for _entry in TABLE:
    _ROWS.setdefault(_entry.key, []).append(_entry)

READER = Reader(
    name="generic",
    title="a home-made config",
    dialect="pyyaml",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("generic",),
    combine=combine,
    guessed=True,
)
