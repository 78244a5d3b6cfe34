"""Numbers that do not fit each other: no machines, a master nobody counts, more GPUs asked for than there are.

Sources: kubeflow/training-operator@2f18ab7 pytorch_defaults.go (setElasticPolicy); kubeflow/trainer#3809; mpirun of
Open MPI; verl trainer/ppo/ray_trainer.py; Ray's documentation of ScalingConfig on KubeRay; kubeflow/trainer#3302.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.gpus import gpus
from loralint.frameworks.readers.kubernetes.launch import first, number, place
from loralint.frameworks.readers.kubernetes.maps import maps_of
from loralint.frameworks.readers.kubernetes.pods import RUNTIMES, Job
from loralint.frameworks.readers.kubernetes.processes import command
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, text, value, whole, word
from loralint.model import Observation
from loralint.source.document import Document

_COUNTED = ("trainer.numNodes", "trainer.numProcPerNode", "mlPolicy.numNodes")
_ADAPTED = re.compile(r"model\.(?:lora_attn_modules=|quantize_base=true$)", re.IGNORECASE)  # Trainer's own test
_NODES = re.compile(r"\btrainer\.nnodes=(\d{1,4})(?![\w.])")
_CARDS = re.compile(r"\btrainer\.n_gpus_per_node=(\d{1,4})(?![\w.])")
_WORKERS = re.compile(r"\bScalingConfig\(([^()]{1,400})\)")
_MANY = re.compile(r"\bnum_workers\s*=\s*(\d{1,4})(?![\w.])")
_ON_GPU = re.compile(r"\buse_gpu\s*=\s*True\b")
_OTHERWISE = re.compile(r"resources_per_worker|placement_strategy|\*\*")
# what ends a command of a shell; a pipe behind a training, whose last program decides how the line ends
_ENDING = re.compile(r"(\|\||&&|\|&|[|;&]|(?<!\\)\n)")
_BOTH = re.compile(r"2?>&1(?=(?:\\\n|[ \t])*\|)")
_TRAINS = re.compile(r"(?:torchrun|accelerate[ \t]+launch|deepspeed|python3?|llamafactory-cli|axolotl|swift)\b")
_TAKES = re.compile(r"(?:\\\n|[ \t])*(tee|cat|ts|grep|awk|sed|python3?)\b")
_KEEPS = re.compile(r"pipefail|PIPESTATUS")
_ENDS = frozenset({"batch", "kubeflow.org", "trainer.kubeflow.org", "jobset.x-k8s.io", "batch.volcano.sh"})


def misfitted(document: Document, job: Job) -> Iterator[Observation]:
    """Everything of that in one job."""
    yield from _none(document, job)
    yield from _torchtune(document, job)
    yield from _elastic(document, job)
    yield from _slots(document, job)
    yield from _ray(document, job)
    yield from _piped(document, job)


def _none(document: Document, job: Job) -> Iterator[Observation]:
    """Nodes or processes of a TrainJob, or of its runtime, that are none or fewer."""
    if job.kind != "TrainJob" and job.kind not in RUNTIMES:
        return
    for path in _COUNTED:
        at = inside(job.spec, path)
        if at is not None and re.fullmatch(r"-\d+|0", text(at)):
            yield Observation("job-none", value(document, at), "crash", "", data={"count": text(at)})


def _torchtune(document: Document, job: Job) -> Iterator[Observation]:
    """LoRA on several nodes by one of Trainer's runtimes for torchtune, which has recipes of it for one node alone."""
    trainer, nodes = named(job.spec, "trainer"), inside(job.spec, "trainer.numNodes")
    if job.kind != "TrainJob" or not word(named(job.spec, "runtimeRef"), "name").startswith("torchtune-"):
        return
    words = [text(one) for one in items(named(trainer, "args"))]
    count = whole(nodes)
    if nodes is not None and count is not None and count > 1 and any(_ADAPTED.match(one) for one in words):
        yield Observation("job-torchtune", value(document, nodes), "crash", "", data={"count": count})


def _elastic(document: Document, job: Job) -> Iterator[Observation]:
    """A master among elastic pods, of which the operator counts the workers alone where no number is given."""
    policy = named(job.spec, "elasticPolicy")
    counts = {group.role.lower(): group.replicas for group in job.pods}
    master, workers = counts.get("master"), counts.get("worker")
    if job.kind != "PyTorchJob" or policy is None or not master or not workers:
        return
    said = named(policy, "maxReplicas") or named(policy, "minReplicas")
    most = whole(said) if said is not None else workers
    if most is not None and most < master + workers:
        data = {"counted": most, "pods": master + workers}
        yield Observation("job-elastic-master", value(document, said or policy), "changed", "", data=data)


def _slots(document: Document, job: Job) -> Iterator[Observation]:
    """More processes than the workers of an MPIJob have places."""
    workers = next((one for one in job.pods if one.role.lower() == "worker"), None)
    at = named(job.spec, "slotsPerWorker")
    each = whole(at) if at is not None else 1
    if job.kind != "MPIJob" or workers is None or not workers.replicas or not each:
        return
    if text(named(job.spec, "runLauncherAsWorker")) not in ("", "false"):
        return
    for group, container in job.containers():
        launch = command(job, group, container) if group.role.lower() == "launcher" else None
        by_mpi = launch is not None and launch.program in ("mpirun", "mpiexec")
        flag = first(launch.before, "np", "n") if launch is not None and by_mpi else None
        count, places = number(flag), each * workers.replicas
        if launch is None or flag is None or count is None or count <= places:
            continue
        if not any("oversubscribe" in one.name or "oversubscribe" in one.text for one in launch.before.values()):
            data = {"count": count, "places": places, "each": each, "workers": workers.replicas}
            yield Observation("job-slots", place(document, flag, count), "crash", "", data=data)


def _ray(document: Document, job: Job) -> Iterator[Observation]:
    """More GPUs than a Ray cluster of this job can have."""
    cluster, entry = named(job.spec, "rayClusterSpec"), named(job.spec, "entrypoint")
    have = _gpus_of(job, cluster)
    if job.kind != "RayJob" or entry is None or have is None:
        return
    nodes, cards = _NODES.search(text(entry)), _CARDS.search(text(entry))
    wanted, how = 0, ""
    if nodes is not None and cards is not None:
        wanted, how = int(nodes[1]) * int(cards[1]), "stops"
    elif (many := _workers(job, text(entry))) is not None:
        wanted, how = many, "waits"
    if wanted > have:
        data = {"wanted": wanted, "gpus": have, "how": how}
        yield Observation("job-ray-gpus", value(document, entry), "crash", "", data=data)


def _gpus_of(job: Job, cluster: At | None) -> int | None:
    """How many GPUs all pods of a cluster have at most; None where that is not said."""
    grows = text(named(cluster, "enableInTreeAutoscaling")) not in ("", "false")
    groups = [named(cluster, "headGroupSpec"), *items(named(cluster, "workerGroupSpecs"))]
    pods = [one for one in job.pods if one.pod is not None]
    total = 0
    for spec, group in zip(groups, pods, strict=False):
        each = [gpus(container) for container in group.containers]
        many = 1 if group.role == "head" else whole(named(spec, "maxReplicas" if grows else "replicas"))
        hosts = named(spec, "numOfHosts")
        if any(each) and (many is None or (hosts is not None and whole(hosts) is None)):
            return None
        total += sum(one or 0 for one in each) * (many or 0) * (whole(hosts) or 1 if hosts is not None else 1)
    return total if len(groups) == len(pods) and total else None


def _workers(job: Job, entrypoint: str) -> int | None:
    """How many workers on a GPU each the script of a map asks Ray Train for; None where it does not say so."""
    scripts = [
        text.content for one in maps_of(job.document) for name, text in one.files.items()
        if name.endswith(".py") and name in entrypoint
    ]  # fmt: skip
    found = [match[1] for one in scripts for match in _WORKERS.finditer(one)]
    many = _MANY.search(found[0]) if len(found) == 1 else None
    plain = many is not None and _ON_GPU.search(found[0]) is not None and _OTHERWISE.search(found[0]) is None
    return int(many[1]) if many is not None and plain else None


def _piped(document: Document, job: Job) -> Iterator[Observation]:
    """A training before a pipe, whose end is that of what stands behind."""
    for group, container in job.containers() if job.group in _ENDS else ():
        launch = command(job, group, container)
        words = [text(one) for key in ("command", "args") for one in items(named(container, key))]
        if launch is None or not launch.shell or any(map(_KEEPS.search, (launch.shell, *words))):
            continue
        own = launch.script or launch.program
        to = _taker(launch.shell, own)
        if to:
            where = value(document, launch.at)
            yield Observation("job-piped", where, "harmless", "", data={"to": to})


def _taker(shell: str, own: str) -> str:
    """The program that a training's output is piped to; "" for none. own: a word of the training's command."""
    parts = _ENDING.split(_BOTH.sub("", shell))
    for before, ending, behind in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        trains = _TRAINS.search(before) if ending in ("|", "|&") else None
        taker = _TAKES.match(behind)
        if trains is not None and taker is not None and own in before[trains.start() :]:
            return taker[1]
    return ""
