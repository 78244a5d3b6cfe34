"""What several keys of litgpt decide together."""

from __future__ import annotations

from loralint.frameworks.lookup import find
from loralint.frameworks.table import SKIP, Look, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document
from loralint.source.scalars import value as loaded

# switch -> whether it is on by default, and what it adapts in PEFT's names of a Llama; litgpt keeps the head apart from
# the embedding even where a model ties them, so that it is not PEFT's lm_head
SWITCHES: dict[str, tuple[bool, list[str]]] = {
    "lora_query": (True, ["q_proj"]),
    "lora_key": (False, ["k_proj"]),
    "lora_value": (True, ["v_proj"]),
    "lora_projection": (False, ["o_proj"]),
    "lora_mlp": (False, ["gate_proj", "up_proj", "down_proj"]),
    "lora_head": (False, ["head"]),
}


def combine(document: Document, values: Values) -> Values:
    """Six switches add up to the targets; devices count on every node."""
    fields = {}
    if "adapter.method" in values:
        fields["adapter.method"] = values["adapter.method"][:1]  # every key that tells it tells the same
    if "adapter.targets" in values:
        fields["adapter.targets"] = (_targets(values["adapter.targets"]),)
    if "run.gpu_count" in values:
        fields["run.gpu_count"] = (_devices(document, values["run.gpu_count"][0]),)
    return fields


def _targets(switches: tuple[Value, ...]) -> Value:
    """One value with an item for each module; what an absent switch adapts has no place."""
    unknown = next((switch for switch in switches if not isinstance(switch.value, bool)), None)
    if unknown is not None:
        return (
            unknown if isinstance(unknown.value, Unknown) else unknown._replace(value=Unknown("a switch is no switch"))
        )
    written = {switch.key: switch for switch in switches}
    items = []
    for key, (on, names) in SWITCHES.items():
        switch = written.get(key, Value(on, origin="default", key=key, field="adapter.targets"))
        items += [switch._replace(value=name) for name in names if switch.value]
    return switches[0]._replace(value=[item.value for item in items], items=tuple(items))


def _devices(document: Document, each: Value) -> Value:
    pair = find(document.root, "num_nodes") if document.root is not None else None
    nodes = loaded(pair.value, "jsonargparse") if pair is not None else 1
    if not isinstance(nodes, int) or not isinstance(each.value, int) or nodes == 1:
        return each
    return each._replace(value=each.value * nodes, origin="derived", source="devices x num_nodes")


def accumulation(look: Look) -> object:
    """Give the passes that fill a step: rows per step over devices over rows per pass, rounded down twice.

    Where no pass fits into a step litgpt refuses the file, which `observe_faults` says.
    """
    counts = [look.get(field).value for field in ("batch.global", "run.gpu_count", "batch.micro")]
    whole = [one for one in counts if isinstance(one, int) and not isinstance(one, bool) and one > 0]
    if len(whole) < len(counts):
        return Unknown("the batch is unknown")
    return whole[0] // whole[1] // whole[2] or SKIP


def several_devices(look: Look) -> object:
    """Recompute activations where the model is sharded, which it is over several devices."""
    count = look.get("run.gpu_count").value
    return count > 1 if isinstance(count, int) else count
