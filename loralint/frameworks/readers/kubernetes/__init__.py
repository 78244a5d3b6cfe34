"""Manifests of training jobs: batch Job, Kubeflow's kinds, JobSet, Volcano, Ray, Argo, and what wraps them.

A manifest says little of the training itself: which GPUs the pods meet, how many, and the flags that stand in the open.
Each job is a run of its own, which `reader_of` reads. Read as a whole, a file's jobs are one: where they differ a value
is unknown. The objects themselves are observed.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.convert import dtype, never
from loralint.frameworks.readers.kubernetes.faults import faults, of_jobs
from loralint.frameworks.readers.kubernetes.gpus import gpu_limit, gpu_names, gpu_of_type, gpus, sliced
from loralint.frameworks.readers.kubernetes.launch import Flag, Launch, first, place, switch
from loralint.frameworks.readers.kubernetes.overrides import overridden
from loralint.frameworks.readers.kubernetes.pods import RUNTIMES, Group, Job
from loralint.frameworks.readers.kubernetes.processes import command, nodes, processes, variables
from loralint.frameworks.readers.kubernetes.storage import output, shared_memory
from loralint.frameworks.readers.kubernetes.training import jobs
from loralint.frameworks.readers.kubernetes.tree import At, inside, named, text, value, whole
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Observation, Unknown, Value
from loralint.source.document import Document

# Fields that a manifest may tell, under the key where each usually stands; `combine` finds them wherever they are.
_KEYS = {
    "model.base": "tuning.preset.name",
    "job.kind": "kind",
    "job.nodes": "spec.parallelism",
    "job.gpus_per_node": "resources.limits.nvidia.com/gpu",
    "job.processes_per_node": "spec.nprocPerNode",
    "job.restart_policy": "restartPolicy",
    "job.backoff_limit": "spec.backoffLimit",
    "job.shared_memory": "volumes.emptyDir.sizeLimit",
    "run.gpu": "nodeSelector",
    "run.gpu_count": "resources.limits.nvidia.com/gpu",
    "precision.bf16": "--bf16",
    "precision.fp16": "--fp16",
    "precision.tf32": "--tf32",
    "model.attention": "--attn_implementation",
    "checkpoint.output_dir": "--output_dir",
}
_SWITCHES = {"bf16": "precision.bf16", "fp16": "precision.fp16", "tf32": "precision.tf32"}


def _by_combine(_: object) -> object:
    """No key stands at one path for all kinds."""
    return SKIP


def combine(document: Document, values: Values) -> Values:
    """What the training jobs of the file say, all of them together."""
    del values
    return _of_jobs(document, started(document), flags=True)


def started(document: Document) -> list[Job]:
    """The training jobs of a file; a runtime beside a TrainJob is no job but what that one uses."""
    every = jobs(document)
    return [job for job in every if job.kind not in RUNTIMES] or list(every)


def _of_jobs(document: Document, several: list[Job], *, flags: bool) -> Values:
    found: dict[str, list[Value]] = {}
    for job in several:
        for one in _of_job(document, job):
            if flags or one.origin not in ("flag", "env"):
                found.setdefault(one.field, []).append(one)
    return {field: (_agreed(values),) for field, values in found.items()}


def _agreed(several: list[Value]) -> Value:
    first_ = several[0]
    if all(one.value == first_.value for one in several):
        return first_
    return first_._replace(value=Unknown("the jobs or pods of the manifest differ"), items=())


def _of_job(document: Document, job: Job) -> Iterator[Value]:
    kind = named(job.root, "kind")
    if kind is not None:
        yield value(document, kind, text(kind))._replace(field="job.kind")
    preset = inside(job.root, "tuning.preset.name")
    if job.kind == "Workspace" and preset is not None and text(preset):
        yield value(document, preset, text(preset))._replace(field="model.base")
    many = nodes(job)
    if many is not None:
        yield Value(many, "derived", field="job.nodes")
    limit = inside(job.spec, "runPolicy.backoffLimit") if job.operator else named(job.spec, "backoffLimit")
    if whole(limit) is not None and limit is not None:
        yield value(document, limit, whole(limit))._replace(field="job.backoff_limit")
    yield from _of_pods(document, job)
    yield from _total(document, job)


def _of_pods(document: Document, job: Job) -> Iterator[Value]:
    for group in job.pods:
        policy = named(group.policy, "restartPolicy")
        if policy is not None:
            yield value(document, policy, text(policy))._replace(field="job.restart_policy")
        selected = gpu_names(group.pod) or gpu_of_type(inside(job.root, "resource.instanceType"))
        if selected is not None:
            at, names = selected
            part = next((one for container in group.containers if (one := sliced(container))), "")
            several = Unknown(f"the scheduler may choose among {', '.join(names)}")
            what = several if len(names) > 1 else f"{names[0]}-MIG-{part}" if part else names[0]
            yield value(document, at, what)._replace(field="run.gpu")
    for group, container in job.containers():
        yield from _of_container(document, job, group, container)


def _of_container(document: Document, job: Job, group: Group, container: At) -> Iterator[Value]:
    launch = command(job, group, container)
    at, count = gpu_limit(container), gpus(container)
    if at is not None and count is not None:
        yield value(document, at, count)._replace(field="job.gpus_per_node")
    started = processes(document, job, group, container)
    if started is not None:
        yield started.at._replace(value=started.number, field="job.processes_per_node")
    size, place_ = shared_memory(group, container)
    if size is not None and place_ is not None:
        yield value(document, place_, size)._replace(field="job.shared_memory")
    if launch is not None:
        yield from _of_flags(document, launch)
    yield from _of_environment(document, launch, container)


def _of_flags(document: Document, launch: Launch) -> Iterator[Value]:
    """The flags of the script; a launcher's own precision counts where the script says nothing."""
    for name, field in _SWITCHES.items():
        flag = first(launch.flags, name)
        if flag is not None:
            yield _flag(document, flag, switch(flag), field)
    mixed = first(launch.flags, "mixed_precision") or first(launch.before, "mixed_precision")
    if mixed is not None and not any(name in launch.flags for name in _SWITCHES):
        yield from _mixed(document, mixed)
    attention, folder = first(launch.flags, "attn_implementation"), output(launch)
    if attention is not None:
        yield _flag(document, attention, attention.text.lower(), "model.attention")
    if folder is not None:
        yield _flag(document, folder, folder.text, "checkpoint.output_dir")


def _mixed(document: Document, flag: Flag) -> Iterator[Value]:
    made = dtype(flag.text)
    if flag.open:
        yield _flag(document, flag, None, "precision.bf16")
    elif made in ("bf16", "fp16"):
        yield _flag(document, flag, True, f"precision.{made}")


def _flag(document: Document, flag: Flag, content: object, field: str) -> Value:
    if flag.open or content is None:
        content = Unknown(f"`{flag.name} {flag.text}` is filled in only when the run starts")
    return place(document, flag, content, field)


def _of_environment(document: Document, launch: Launch | None, container: At) -> Iterator[Value]:
    """Accelerate's variable, which its launcher and the flags of the script override."""
    at = variables(container).get("ACCELERATE_MIXED_PRECISION")
    made = dtype(text(at))
    told = launch is not None and any(name in launch.flags for name in (*_SWITCHES, "mixed_precision"))
    accelerated = launch is not None and launch.program.startswith("accelerate")
    if at is not None and made in ("bf16", "fp16") and not told and not accelerated:
        name = "ACCELERATE_MIXED_PRECISION"
        yield value(document, at, content=True, key=name)._replace(origin="env", field=f"precision.{made}")


def _total(document: Document, job: Job) -> Iterator[Value]:
    """GPUs of all pods together, where every number is known."""
    found = [
        (group, at, whole(at)) for group in job.pods for one in group.containers if (at := gpu_limit(one)) is not None
    ]
    counts = [count * group.replicas for group, _, count in found if count is not None and group.replicas is not None]
    if found and len(counts) == len(found):
        yield value(document, found[0][1], sum(counts))._replace(origin="derived", field="run.gpu_count")


def reader_of(job: Job, *, flags: bool = True, observe: bool = True) -> Reader:
    """The reader of one job of a file. flags: whether it reads those that every script has, too, since no reader of a
    trainer does. observe: whether it tells what stands out in the job and in the runtimes beside it.
    """

    def values(document: Document, _: Values) -> Values:
        return _of_jobs(document, [job], flags=flags)

    def observations(document: Document, _: Look) -> list[Observation]:
        others = [one for one in jobs(document) if one.kind in RUNTIMES and one != job]
        return of_jobs(document, [job, *(overridden(one, job) for one in others)])

    return READER._replace(combine=values, observe=(observations,) if observe else ())


TABLE = tuple(Entry(field, key, _by_combine, never) for field, key in _KEYS.items())

READER = Reader(
    name="kubernetes",
    title="Kubernetes",
    dialect="pyyaml",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("kubernetes",),
    observe=(faults,),
    combine=combine,
    documents=True,
)
