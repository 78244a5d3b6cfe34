"""What a config says of how several GPUs split a run."""

from __future__ import annotations

from loralint.facts.memory.of_pass import zero_stage
from loralint.facts.memory.plan import Shards
from loralint.facts.need import Missing, known, number, optional, positive
from loralint.facts.scope import Scope

# entries of reduce_bucket_size by default, twice where communication overlaps, in 16 bits; Trainer's "auto" makes them
# as small as a matrix: DeepSpeed zero/stage_1_and_2.py (ipg_buffer), transformers integrations/deepspeed.py
_BUCKETS = 2 * 5e8 * 2


def shards(scope: Scope, *, rich: bool) -> Shards:
    """How DeepSpeed or FSDP splits a run over its GPUs, whose number has to be known then.

    rich: DeepSpeed's buckets have their usual size.
    """
    if optional(scope, "dist.tensor_parallel", 1) > 1 or optional(scope, "dist.context_parallel", 1) > 1:
        raise Missing("how tensor or sequence parallelism splits memory is not known here")
    if known(scope, "kernel.ktransformers") is True:
        raise Missing("how much of the model waits in the CPU's memory is not known here")
    stage = zero_stage(scope)
    if known(scope, "dist.fsdp") is True:
        return _fsdp(scope)
    if stage == 0:
        return Shards(replicas=_replicas(scope))
    told, where = scope.get("dist.deepspeed"), scope.get("dist.zero_stage")
    if told.key and told.key == where.key:
        raise Missing("what DeepSpeed is told beside its stage is not known")
    count = int(_count(scope))
    states = 0 if _off(scope, "dist.ds_offload_optimizer") else count
    weights = 0 if _off(scope, "dist.ds_offload_param") else count
    gradients = (0 if states == 0 else count) if stage >= 2 else 1
    buckets = _BUCKETS if rich else 0
    return Shards(weights if stage >= 3 else 1, gradients, states, count, gathers=stage >= 3, buckets=buckets)


def _fsdp(scope: Scope) -> Shards:
    if known(scope, "dist.fsdp_offload") is True:
        return Shards(0, 0, 0, gathers=True)
    count = int(_count(scope))
    return Shards(count, count, count, count, gathers=True)


def _off(scope: Scope, field: str) -> bool:
    return known(scope, field) in ("cpu", "nvme")


def _count(scope: Scope) -> float:
    """GPUs that share the run."""
    if scope.get("dist.world").known:
        return positive(scope, "dist.world")
    return positive(scope, "gpu.count")


def _replicas(scope: Scope) -> int:
    """Processes that exchange gradients; one where neither they nor the GPUs are counted."""
    if known(scope, "dist.launcher") == "accelerate" and known(scope, "dist.launcher_type") is None:
        raise Missing("how accelerate spreads the run is not known")
    if scope.get("gpu.count").known and positive(scope, "gpu.count") == 1:
        return 1
    _whole(scope)
    return int(positive(scope, "dist.world")) if scope.get("dist.world").known else 1


def _whole(scope: Scope) -> None:
    """Raises Missing unless each of perhaps several GPUs holds the whole model.

    A recipe or a launcher may shard without a key that says so; a process that sees several GPUs may spread its layers.
    """
    unsaid = "whether the GPUs share the model or each has the whole of it is not known"
    if scope.get("dist.fsdp").origin == "absent":
        raise Missing(unsaid if scope.get("gpu.count").known else f"{unsaid} (--gpu NAMEx1 says that there is one)")
    processes = optional(scope, "dist.world", 1) if scope.get("dist.world").known else 1
    machines = max(1, optional(scope, "dist.launcher_nodes", 1))
    for seen in ("gpu.count", "dist.visible_devices"):
        there = number(scope, seen) if scope.get(seen).known and scope.get(seen).value is not None else 1
        if there > max(1, processes / machines):
            raise Missing(unsaid)
