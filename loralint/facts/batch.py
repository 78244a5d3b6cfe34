"""How many rows one optimizer step sees."""

from __future__ import annotations

from loralint.facts.need import known, number, optional
from loralint.facts.scope import Scope, derived
from loralint.model import Unknown, Value


def effective(scope: Scope) -> Value:
    """Rows per optimizer step over all devices; one device is assumed, and said so, when no count is known."""
    if known(scope, "batch.global") is not None:
        return derived(number(scope, "batch.global"))
    micro = number(scope, "batch.micro", "the config has no batch size")
    rows = micro * optional(scope, "batch.accumulation", 1)
    devices = scope.get("gpu.count").value
    if isinstance(devices, Unknown):
        return derived(rows, "one device assumed")
    replicas = number(scope, "gpu.count") // max(1, optional(scope, "dist.tensor_parallel", 1))
    return derived(rows * max(1, replicas))
