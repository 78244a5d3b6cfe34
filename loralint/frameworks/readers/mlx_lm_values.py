"""What several keys of mlx-lm decide together, both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loralint.frameworks.lookup import find
from loralint.frameworks.table import SKIP, Look, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_BY_OPTIMIZER = ("optim.weight_decay", "optim.beta1", "optim.beta2", "optim.eps", "optim.momentum")
_IN_BATCHES = ("train.max_steps", "eval.steps", "checkpoint.save_steps", "train.logging_steps")
# which of a schedule's arguments is the rate that it ends at, and which the steps that this takes
_END = {"cosine": 2, "linear": 1}
_LENGTH = {"cosine": 1, "linear": 2}
_REQUIRED = {"adapter.rank": "rank", "adapter.alpha": "scale", "adapter.dropout": "dropout"}


def blocks(count: int) -> Callable[[Look], object]:
    """Make the default of a number of blocks, counted from the last one."""
    return lambda look: last(count, look.get("model.base").value)


def last(count: object, base: object) -> object:
    """The indices of the last blocks; SKIP for all of them, Unknown where the model's depth is not known."""
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        return SKIP if isinstance(count, int) else Unknown("the number of blocks is no number")
    from loralint.knowledge.models import find as model

    found = model(base) if isinstance(base, str) else None
    if found is None or found.num_layers is None:
        return Unknown(f"the last {count} blocks, and how deep the model is is not known")
    return list(range(found.num_layers - count, found.num_layers)) if count < found.num_layers else SKIP


def combine(document: Document, values: Values) -> Values:
    """Alpha from scale and rank, steps from batches, arguments of the optimizer and schedule that are chosen."""
    fields: dict[str, tuple[Value, ...]] = {}
    _missing(document, fields, values)
    if "adapter.alpha" in values:
        fields["adapter.alpha"] = (_alpha(values["adapter.alpha"], {**values, **fields}.get("adapter.rank", ())),)
    if "adapter.layers" in values:
        shown = values["adapter.layers"][0]
        indices = last(shown.value, next((base.value for base in values.get("model.base", ())), None))
        fields["adapter.layers"] = () if indices is SKIP else (shown._replace(value=indices, items=()),)
    accumulation = values.get("batch.accumulation", ())
    for field in _IN_BATCHES if accumulation and accumulation[0].value != 1 else ():
        if field in values:
            fields[field] = (_steps(values[field][0], accumulation[0]),)
    chosen = next((name.value for name in values.get("optim.name", ())), "adam")
    for field in _BY_OPTIMIZER:
        if field in values:
            fields[field] = tuple(one for one in values[field] if f".{chosen}." in one.key)
    if "schedule.min_lr" in values:
        end = _argument("schedule.min_lr", _END, values)
        risen = _risen(end, values)
        fields["schedule.min_lr"] = () if risen else end
        fields["schedule.steps"] = _length(values)
        fields.update({"optim.lr": risen} if risen else {})
    return fields


def uncombine(field: str, value: object, look: Look) -> object:
    """What a row writes: scale for alpha, batches for steps."""
    if field == "adapter.alpha":
        rank = look.get("adapter.rank").value
        if not isinstance(rank, int) or rank < 1 or not isinstance(value, (int, float)):
            return SKIP
        return value / rank
    if field in _IN_BATCHES and isinstance(value, (int, float)):
        each = look.get("batch.accumulation").value
        return value * each if isinstance(each, int) else SKIP
    return value


def _missing(document: Document, fields: dict[str, tuple[Value, ...]], values: Values) -> None:
    """What a written `lora_parameters` leaves out has no default, and the run stops."""
    pair = find(document.root, "lora_parameters") if document.root is not None else None
    if pair is None or pair.value.kind != "mapping":
        return
    for field, key in _REQUIRED.items():
        if field not in values:
            reason = Unknown(f"`lora_parameters` has no `{key}`")
            span = document.span(pair.value)
            fields[field] = (Value(reason, key=f"lora_parameters.{key}", span=span, field=field),)


def _alpha(parts: tuple[Value, ...], rank: tuple[Value, ...]) -> Value:
    """Scale times rank, or where alpha is read too (before 0.16) scale times alpha."""
    scale = parts[0]
    if not scale.key.endswith("scale"):
        return scale._replace(value=Unknown("`lora_parameters` has no `scale`"))
    factor = parts[1] if len(parts) > 1 else rank[0] if rank else None
    numbers = [one.value for one in (scale, factor) if one is not None and isinstance(one.value, (int, float))]
    if isinstance(scale.value, str):
        return scale
    if len(numbers) < 2:
        return scale._replace(value=Unknown("alpha is scale times rank, and one of them is no number"))
    return scale._replace(value=numbers[0] * numbers[1], origin="derived", source="scale x rank")


def _steps(batches: Value, each: Value) -> Value:
    if not isinstance(batches.value, int) or not isinstance(each.value, int) or each.value < 1:
        return batches
    return batches._replace(value=batches.value // each.value, origin="derived", source=f"{batches.key} / {each.key}")


def _argument(field: str, places: Mapping[str, int], values: Values) -> tuple[Value, ...]:
    """One of the schedule's arguments, by the schedule's name."""
    arguments, name = values[field][0], next((one.value for one in values.get("schedule.name", ())), "")
    index = places.get(str(name))
    if index is None or not isinstance(arguments.value, list) or len(arguments.value) <= index:
        return ()
    place = arguments.items[index] if len(arguments.items) > index else arguments
    return (place._replace(value=arguments.value[index], field=field),)


def _risen(end: tuple[Value, ...], values: Values) -> tuple[Value, ...]:
    """The rate that a linear schedule rises to and keeps, as `linear_schedule` of 0 and 1e-4 does; () for a fall."""
    name = next((one.value for one in values.get("schedule.name", ())), "")
    start = next((one.value for one in values.get("optim.lr", ())), None)
    top = end[0].value if end and name == "linear" else None
    rises = isinstance(start, (int, float)) and isinstance(top, (int, float)) and top > start
    return (end[0]._replace(field="optim.lr"),) if rises else ()


def _length(values: Values) -> tuple[Value, ...]:
    """The steps of the way down, after those of the warm-up."""
    down = _argument("schedule.steps", _LENGTH, values)
    up = next((one.value for one in values.get("schedule.warmup_steps", ())), 0)
    if not down or not isinstance(down[0].value, int) or not isinstance(up, int):
        return down if not up else ()
    return (down[0]._replace(value=down[0].value + up, origin="derived", source="warm-up and decay"),) if up else down
