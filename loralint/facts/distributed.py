"""How many processes train together, what DeepSpeed's batch would have to be, and what FSDP is told to wrap."""

from __future__ import annotations

from loralint.facts.need import Missing, known, number, optional, positive, text
from loralint.facts.scope import Scope, derived
from loralint.model import Unknown, Value

_SEVERAL = frozenset({"multi_gpu", "multi_npu", "multi_xpu", "multi_hpu"})
_ONE = frozenset({"no", "none"})


def world(scope: Scope) -> Value:
    """Training processes in all: what the launcher says, else what a manifest starts, else that there is no launcher.

    Accelerate counts them over all machines, torchrun and DeepSpeed on each.
    """
    if _told(scope, "dist.launcher_processes"):
        return derived(int(positive(scope, "dist.launcher_processes")))
    for each, nodes in (
        ("dist.launcher_processes_per_node", "dist.launcher_nodes"),
        ("job.processes_per_node", "job.nodes"),
    ):
        if _told(scope, each):
            return derived(int(positive(scope, each) * max(1, optional(scope, nodes, 1))))
    if scope.get("dist.alone").value is True:
        return derived(1)
    raise Missing("no launch line or manifest says how many processes train")


def several(scope: Scope) -> Value:
    """Whether more than one process trains, each with a copy of the model (DDP): neither sharded nor split.

    A script may shard without an argument that says so; what nobody says of that counts as no.
    """
    if scope.get("dist.fsdp").value is True or isinstance(scope.get("dist.deepspeed").value, str):
        return derived(value=False)
    kind = known(scope, "dist.launcher_type")
    if isinstance(kind, str) and kind.lower() in _ONE:
        return derived(value=False)
    count = scope.get("dist.world").value
    if isinstance(count, Unknown):
        if isinstance(kind, str) and kind.lower() in _SEVERAL:
            return derived(value=True)
        raise Missing(count.reason)
    return derived(number(scope, "dist.world") > 1)


def batch(scope: Scope) -> Value:
    """Rows per optimizer step by the trainer's own arguments, which DeepSpeed's number has to be."""
    return derived(int(_local(scope) * _replicas(scope)))


def local_batch(scope: Scope) -> Value:
    """Rows per optimizer step and process by the trainer's arguments; DeepSpeed's number is a multiple of it."""
    return derived(int(_local(scope)))


def told_batch(scope: Scope) -> Value:
    """Rows per optimizer step and process by DeepSpeed's own file."""
    micro = positive(scope, "dist.ds_micro", "DeepSpeed's file leaves the micro batch to the trainer")
    steps = positive(scope, "dist.ds_accumulation", "DeepSpeed's file leaves the accumulation to the trainer")
    return derived(int(micro * steps))


def wrong_class(scope: Scope) -> Value:
    """A class that FSDP is to wrap and the model does not have: one of another family, or one that is misspelt."""
    from loralint.knowledge.models import block_classes

    wanted = [name.strip() for name in text(scope, "dist.fsdp_wrap_class", "FSDP is given no class").split(",")]
    every = block_classes()
    slips = [name for name in wanted if name not in every and name.lower() in {one.lower() for one in every}]
    own = _blocks(scope) if not slips or _told(scope, "model.base") else ()
    foreign = [name for name in wanted if own and name in every and name not in own]
    return derived(next(iter(slips + foreign), None))


def right_class(scope: Scope) -> Value:
    """The class of the model's layers, else the known one that a misspelt one must mean."""
    from loralint.knowledge.models import block_classes

    wrong = known(scope, "fsdp.wrong_class")
    if own := _blocks(scope) if _told(scope, "model.base") else ():
        return derived(own[0])
    return derived(next((one for one in sorted(block_classes()) if one.lower() == str(wrong).lower()), None))


def visible_short(scope: Scope) -> Value:
    """Processes on a machine beyond the GPUs that they may see; 0 where there is one for each."""
    machines = max(1, optional(scope, "dist.launcher_nodes", 1))
    here = number(scope, "dist.world") / machines
    seen = positive(scope, "dist.visible_devices", "nothing limits the GPUs that the run sees")
    return derived(max(0, int(here - seen)))


def _blocks(scope: Scope) -> tuple[str, ...]:
    from loralint.facts.model import found

    model = found(scope)
    return model.blocks if model is not None else ()


def _local(scope: Scope) -> float:
    micro = positive(scope, "batch.micro", "the config has no batch size")
    return micro * max(1, optional(scope, "batch.accumulation", 1))


def _replicas(scope: Scope) -> float:
    """Processes that see different rows."""
    split = optional(scope, "dist.tensor_parallel", 1) * optional(scope, "dist.context_parallel", 1)
    if split > 1:
        raise Missing("processes share rows under tensor or sequence parallelism")
    return positive(scope, "dist.world")


def _told(scope: Scope, field: str) -> bool:
    """Whether somebody says it, even if only in words that are filled in later."""
    value = scope.get(field)
    return value.origin != "absent" and value.value is not None
