"""How many rows one optimizer step sees."""

from __future__ import annotations

from loralint.facts.need import known, number, optional
from loralint.facts.scope import Scope, derived
from loralint.model import Unknown, Value


def effective(scope: Scope) -> Value:
    """Rows per optimizer step over all devices; one device is assumed, and said so, when no count is known."""
    if known(scope, "batch.global") is not None:
        return derived(number(scope, "batch.global"))
    rows = _micro(scope) * optional(scope, "batch.accumulation", 1)
    replicas = _replicas(scope)
    return derived(rows, "one device assumed") if replicas is None else derived(rows * replicas)


def at_once(scope: Scope) -> Value:
    """Rows that all devices take together in one forward pass; fewer are no full batch."""
    world = scope.get("dist.world").value
    copies = _replicas(scope) if isinstance(world, Unknown) else number(scope, "dist.world") // _split(scope)
    return derived(_micro(scope) * max(1, copies or 1))


def eval_at_once(scope: Scope) -> Value:
    """Rows that all devices take together in one pass of an evaluation."""
    return derived(int(number(scope, "batch.eval_micro")) * max(1, number(scope, "dist.world") // _split(scope)))


def eval_group(scope: Scope) -> Value:
    """Completions of one prompt in an evaluation, as many as in training unless it says otherwise."""
    told = known(scope, "rl.eval_generations") is not None
    return derived(int(number(scope, "rl.eval_generations" if told else "rl.num_generations")))


def completions(scope: Scope) -> Value:
    """Completions that GRPO and RLOO make at once over all processes, which are whole groups of one prompt each."""
    if known(scope, "rl.generation_batch") is not None:
        return derived(int(number(scope, "rl.generation_batch")))
    told = known(scope, "rl.steps_per_generation") is not None
    steps = number(scope, "rl.steps_per_generation") if told else optional(scope, "batch.accumulation", 1)
    copies = max(1, number(scope, "dist.world") // _split(scope))
    return derived(int(_micro(scope) * copies * steps))


def _micro(scope: Scope) -> float:
    return number(scope, "batch.micro", "the config has no batch size")


def _replicas(scope: Scope) -> float | None:
    """Devices, or groups of them, that hold rows of their own; None when no count is known."""
    if isinstance(scope.get("gpu.count").value, Unknown):
        return None
    return max(1, number(scope, "gpu.count") // _split(scope))


def _split(scope: Scope) -> float:
    """Devices that share one model, and with it its rows."""
    return max(1, optional(scope, "dist.tensor_parallel", 1)) * max(1, optional(scope, "dist.context_parallel", 1))
