"""How many processes a pod starts, against the GPUs it gets; and what a pod says about ranks by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.gpus import gpu_limit, gpus, resource
from loralint.frameworks.readers.kubernetes.launch import Flag, Launch, first, launch_of, number, place
from loralint.frameworks.readers.kubernetes.pods import RUNTIMES, Group, Job
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, text, value, whole, word
from loralint.model import Observation, Value
from loralint.source.document import Document

# Scripts that start the processes themselves, by what their name says.
_SPAWNS = ("launch", "spawn", "distributed", "multi", "ray", "ddp", "fsdp", "parallel", "run")
_ONE_DEVICE = "_finetune_single_device"


class Processes(NamedTuple):
    """How many processes a pod starts and where that is said."""

    number: int
    at: Value


def variables(container: At) -> dict[str, At]:
    """The environment variables with a literal value, by name."""
    found = {}
    for one in items(named(container, "env")):
        given = named(one, "value")
        if given is not None and word(one, "name"):
            found[word(one, "name")] = given
    return found


def command(job: Job, group: Group, container: At) -> Launch | None:
    """What a container launches; Ray's command stands in the job."""
    return launch_of(container, job.place(group))


def processes(document: Document, job: Job, group: Group, container: At) -> Processes | None:
    """The processes that one pod starts; None where an image, a script or an operator decides it out of sight."""
    if job.kind == "MPIJob":
        return _slots(document, job, group)
    launch = command(job, group, container) if job.kind != "RayJob" else None
    if launch is None:
        return _asked(document, job) if job.kind == "TrainJob" else None
    if launch.program in ("torchrun", "tune"):
        return _of_torchrun(document, job, launch, container)
    if launch.program in ("accelerate", "accelerate-launch"):
        return _of_accelerate(document, launch)
    if launch.program == "deepspeed":
        return _of_flag(document, first(launch.before, "num_gpus"))
    single = launch.program == "python" and not any(mark in launch.script.lower() for mark in _SPAWNS)
    return Processes(1, value(document, launch.at, key=_command_key(launch))) if single else None


def _of_torchrun(document: Document, job: Job, launch: Launch, container: At) -> Processes | None:
    flag = first(launch.before, "nproc_per_node")
    told = _of_flag(document, flag) or _asked(document, job)
    if told is None and launch.program == "tune" and _for_one_device(launch, container):
        return Processes(1, value(document, launch.at, key=_command_key(launch)))
    unsaid = flag is None and launch.program == "torchrun"
    return told or (_one(document, job, launch, container) if unsaid else None)


def _for_one_device(launch: Launch, container: At) -> bool:
    """Whether torchtune runs a recipe for one device, which no variable starts several of."""
    words = [text(one) for name in ("command", "args") for one in items(named(container, name))]
    return any(_ONE_DEVICE in one for one in (launch.shell, *words))


def _command_key(launch: Launch) -> str:
    return launch.at.key.rpartition("[")[0] or launch.at.key


def _of_flag(document: Document, flag: Flag | None) -> Processes | None:
    count = number(flag)
    return Processes(count, place(document, flag, count)) if flag is not None and count is not None else None


def _of_accelerate(document: Document, launch: Launch) -> Processes | None:
    """Accelerate counts the processes of all machines together."""
    total, machines = first(launch.before, "num_processes"), first(launch.before, "num_machines")
    count, many = number(total), 1 if machines is None else number(machines)
    if total is None or count is None or not many or count % many:
        return None
    return Processes(count // many, place(document, total, count // many))


def _asked(document: Document, job: Job) -> Processes | None:
    """What the job itself says for every node."""
    for path in ("nprocPerNode", "elasticPolicy.nProcPerNode", "trainer.numProcPerNode"):
        at = inside(job.spec, path)
        count = whole(at)
        if at is not None and count is not None:
            return Processes(count, value(document, at, count))
    return None


def _one(document: Document, job: Job, launch: Launch, container: At) -> Processes | None:
    """Torchrun starts one process, unless an operator or the environment tells it the number."""
    told = job.operator or job.kind in RUNTIMES or job.kind in ("TrainJob", "HyperPodPyTorchJob")
    if told or "PET_NPROC_PER_NODE" in variables(container) or named(container, "envFrom") is not None:
        return None
    return Processes(1, value(document, launch.at, key=_command_key(launch)))


def _slots(document: Document, job: Job, group: Group) -> Processes | None:
    """MPI starts what the slots of the workers hold."""
    at = named(job.spec, "slotsPerWorker")
    count = whole(at)
    if group.role.lower() != "worker" or at is None or count is None:
        return None
    return Processes(count, value(document, at, count))


def nodes(job: Job) -> int | None:
    """How many pods train together; None where that is filled in later or another object says it."""
    groups = job.pods
    if job.kind == "MPIJob":
        groups = tuple(one for one in groups if one.role.lower() == "worker")
    counts = [one.replicas for one in groups]
    if job.kind in ("RayJob", "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow") or not counts:
        return None
    return None if None in counts else sum(count for count in counts if count is not None)


def misfits(document: Document, job: Job) -> Iterator[Observation]:
    """Processes that do not fit the GPUs, ranks that do not fit the pods."""
    for group, container in job.containers():
        limit, count = gpu_limit(container), gpus(container)
        started = processes(document, job, group, container)
        if limit is not None and count and started is not None and started.number != count:
            kind = "job-more-processes" if started.number > count else "job-fewer-processes"
            data = {"processes": started.number, "gpus": count}
            if kind == "job-more-processes" or whole(variables(container).get("WORLD_SIZE")) is None:  # else said there
                where = started.at._replace(field="job.processes_per_node")
                yield Observation(kind, where, "crash", "", other=value(document, limit), data=data)
        yield from _ranks(document, job, group, container)
        launch = command(job, group, container)
        if launch is not None:
            yield from _machines(document, job, launch)


def _ranks(document: Document, job: Job, group: Group, container: At) -> Iterator[Observation]:
    """A WORLD_SIZE that somebody wrote by hand."""
    at, launch, count = variables(container).get("WORLD_SIZE"), command(job, group, container), gpus(container)
    world, pods = whole(at), nodes(job)
    if at is None or world is None or not count or pods is None or job.operator:
        return  # the operator's own WORLD_SIZE comes last and wins
    if launch is None or launch.program not in ("", "python", "python -m") or "WORLD_SIZE" in launch.shell:
        return  # a launcher gives its processes a WORLD_SIZE of their own
    kind = "job-world-too-large" if world > pods * count else "job-world-too-small" if world < pods * count else ""
    if kind:
        data = {"world": world, "gpus": count, "pods": pods, "total": pods * count}
        yield Observation(kind, value(document, at, key="WORLD_SIZE"), "changed", "", data=data)


def _machines(document: Document, job: Job, launch: Launch) -> Iterator[Observation]:
    """Machines that the launcher waits for, where one object starts all of them."""
    flag = first(launch.before, "nnodes", "num_machines")
    wanted, pods = number(flag), nodes(job)
    if flag is None or wanted is None or pods is None or wanted == pods or (pods == 1 and job.group == "batch"):
        return
    if job.kind in ("MPIJob", "Pod") or named(job.spec, "elasticPolicy") is not None:
        return
    yield Observation(
        "job-machines", place(document, flag, wanted), "changed", "", data={"wanted": wanted, "pods": pods}
    )


def devices(document: Document, job: Job) -> Iterator[Observation]:
    """CUDA's own variables against the GPUs of the container."""
    for _, container in job.containers():
        given = variables(container)
        blocking = given.get("CUDA_LAUNCH_BLOCKING")
        if blocking is not None and text(blocking) not in ("0", ""):
            yield Observation(
                "job-launch-blocking", value(document, blocking, key="CUDA_LAUNCH_BLOCKING"), "changed", ""
            )
        limit, visible = gpu_limit(container), given.get("CUDA_VISIBLE_DEVICES")
        count = whole(limit)
        if limit is None or visible is None or not count or resource(limit) != "nvidia.com/gpu":
            continue
        indexes = [one.strip() for one in text(visible).split(",")]
        if not all(one.isascii() and one.isdigit() and len(one) < 5 for one in indexes):
            continue
        usable = next((n for n, one in enumerate(indexes) if int(one) >= count), len(indexes))
        where = value(document, visible, key="CUDA_VISIBLE_DEVICES")
        data = {"gpus": count, "usable": usable, "last": count - 1, "listed": len(indexes)}
        if usable < len(indexes):
            yield Observation("job-devices-beyond", where, "changed", "", data=data)
        elif len(set(indexes)) < count:
            yield Observation("job-devices-hidden", where, "changed", "", data=data)
