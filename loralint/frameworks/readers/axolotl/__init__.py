"""axolotl: one flat YAML, read by PyYAML, checked by a pydantic schema that drops what it does not know.

An empty `adapter` trains the whole model, whatever `lora_*` keys stand beside it.
"""

from __future__ import annotations

from loralint.frameworks.readers.axolotl.faults import FAULTS
from loralint.frameworks.readers.axolotl.row_types import types_of_another_task
from loralint.frameworks.readers.axolotl.table import ROWS
from loralint.frameworks.readers.axolotl.turn_ends import padding_missing, turns_without_end
from loralint.frameworks.readers.training_arguments import observe_floor
from loralint.frameworks.table import Reader, Values
from loralint.model import Value
from loralint.source.document import Document


def combine(_: Document, values: Values) -> Values:
    """Settle the fields that several keys of the file decide together."""
    return {**_method(values), **_precision(values), **_trackers(values)}


def _method(values: Values) -> Values:
    """Tell a model of which only named parameters train from a full fine-tune."""
    method, unfrozen = _first(values, "adapter.method"), _first(values, "train.unfrozen")
    if unfrozen is None or not isinstance(unfrozen.value, list) or (method is not None and method.value != "full"):
        return {}
    return {"adapter.method": (unfrozen._replace(value="freeze", field="adapter.method", items=()),)}


def _precision(values: Values) -> Values:
    """Let `bf16: true` beat fp16, and that `bf16: auto`; `float16` counts only where bf16 is off."""
    bf16, fp16 = _first(values, "precision.bf16"), _first(values, "precision.fp16")
    changed: dict[str, tuple[Value, ...]] = {}
    if bf16 is not None and fp16 is not None and fp16.value is True:
        if bf16.value is True:
            changed["precision.fp16"] = (fp16._replace(value=False),)
        elif bf16.value == "auto":
            changed["precision.bf16"] = (bf16._replace(value=False),)
    if "model.dtype" in values and (bf16 is None or bf16.value is not False):
        changed["model.dtype"] = ()
    return changed


def _trackers(values: Values) -> Values:
    """Join the trackers that some key turns on."""
    several = values.get("train.report_to", ())
    names = {name: None for one in several if isinstance(one.value, list) for name in one.value}
    return {"train.report_to": (several[0]._replace(value=list(names), items=()), *several[1:])} if names else {}


def _first(values: Values, field: str) -> Value | None:
    return next(iter(values.get(field, ())), None)


READER = Reader(
    name="axolotl",
    title="axolotl",
    dialect="pyyaml",
    table=ROWS,
    keys="axolotl",
    coerces=True,
    packages=("axolotl", "transformers", "peft", "trl"),
    observe=(*FAULTS, observe_floor, types_of_another_task, turns_without_end, padding_missing),
    combine=combine,
)
