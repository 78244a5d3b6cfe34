"""Where a pod keeps what it makes: shared memory, the folder of the checkpoints, claims that several pods share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.gpus import gpus
from loralint.frameworks.readers.kubernetes.launch import Flag, Launch, first, number, place
from loralint.frameworks.readers.kubernetes.objects import objects
from loralint.frameworks.readers.kubernetes.pods import RUNTIMES, Group, Job
from loralint.frameworks.readers.kubernetes.processes import command, nodes, processes, variables
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, open_text, text, value, word
from loralint.model import Observation, Value
from loralint.source.document import Document

_OUTPUTS = ("output_dir", "output_path", "checkpoint_dir", "save_dir", "save_path", "default_root_dir")
_VARIABLES = ("OUTPUT_DIR", "OUTPUT_PATH", "CHECKPOINT_DIR", "CHECKPOINTS_DIR", "SAVE_DIR")
_WORKERS = ("dataloader_num_workers", "num_workers", "num_dataloader_workers", "max_data_loader_n_workers")
_MANY = frozenset({"torchrun", "accelerate", "accelerate-launch", "deepspeed"})  # a process a GPU, if nobody says else
_GONE = ("emptyDir", "ephemeral")  # deleted with the pod
# What Kubernetes mounts for reading only, whatever the mount says.
_FIXED = {
    "configMap": "a ConfigMap",
    "secret": "a Secret",
    "projected": "a projected volume",
    "downwardAPI": "a volume of the downward API",
}
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_GIB = 2**30
# The pods of these kinds come from elsewhere, share memory by themselves or hand files on by themselves.
_UNSEEN = frozenset({"TrainJob", "RayJob", "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"})


class Mount(NamedTuple):
    """A folder of a container. kind: what the volume is, such as emptyDir; source: its settings, None if not here.
    fixed: nothing can be written there, whatever the program's user is.
    """

    path: str
    kind: str
    source: At | None
    fixed: bool = False


def mounts(group: Group, container: At) -> list[Mount]:
    """The folders that volumes are mounted on."""
    volumes = {word(one, "name"): one for one in items(named(group.pod, "volumes"))}
    found = []
    for one in items(named(container, "volumeMounts")):
        volume = volumes.get(word(one, "name"))
        kind = next((pair.key for pair in volume.node.pairs if pair.key != "name"), "emptyDir") if volume else ""
        source = named(volume, kind) if kind else None
        fixed = kind in _FIXED or "true" in (word(one, "readOnly"), word(source, "readOnly"))
        found.append(Mount(os.path.normpath(word(one, "mountPath") or "/"), kind, source, fixed))
    return found


def shared_memory(group: Group, container: At) -> tuple[float | None, At | None]:
    """GiB of /dev/shm and what says it; 0.0625 without a mount, None where a limit of the node decides."""
    mount = next((one for one in mounts(group, container) if one.path in ("/dev/shm", "/dev")), None)  # noqa: S108
    if mount is None:
        host = named(group.pod, "hostIPC")
        return (None, host) if text(host) == "true" else (64 / 1024, None)
    size = named(mount.source, "sizeLimit")
    if mount.kind != "emptyDir" or size is None:
        return None, mount.source
    return quantity(text(size)), size


def quantity(raw: str) -> float | None:
    """A size such as 16Gi in GiB; None for what is no size."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([KMGT]i?|)", raw)
    return float(match[1]) * _UNITS[match[2]] / _GIB if match and match[2] in _UNITS else None


def small_memory(document: Document, job: Job) -> Iterator[Observation]:
    """Containers whose processes share memory that is as small as a container's default."""
    if job.kind in _UNSEEN:
        return
    for group, container in job.containers():
        size, at = shared_memory(group, container)
        count, launch = gpus(container), command(job, group, container)
        if size is None or size >= 0.5 or not count:  # GiB; half of one is enough for NCCL and for rows of tokens
            continue
        loaders = first(launch.flags, *_WORKERS) if launch is not None else None
        workers = number(loaders) or 0
        started = processes(document, job, group, container)
        launched = launch is not None and launch.program in _MANY and started is None and job.kind not in RUNTIMES
        several = launched or (started is not None and started.number > 1)
        if count > 1 or workers:
            place_ = value(document, at) if at is not None else _mounting(document, container)
            where = place_._replace(field="job.shared_memory")
            data = {"size": f"{size * 1024:.0f} MiB", "seen": several or workers > 0, "gpus": count, "workers": workers}
            yield Observation("job-small-shared-memory", where, "crash", "", data=data)


def _mounting(document: Document, container: At) -> Value:
    at = named(container, "volumeMounts") or named(container, "name") or container
    return value(document, at._replace(node=at.label or at.node), key=f"{container.key}.volumeMounts")


def lost_output(document: Document, job: Job) -> Iterator[Observation]:
    """Checkpoints that go to a folder which ends with the pod; of several roles the first one is told."""
    for group, container in job.containers():
        launch = command(job, group, container)
        told = _told(document, launch, container)
        lost = lost_folder(job, group, container, told) if told is not None else None
        if lost is not None:
            yield lost
            return


def lost_folder(job: Job, group: Group, container: At, told: Value, *, sent: bool = False) -> Observation | None:
    """That nothing can be written to a folder of a container, or that it ends with the pod, if nothing is seen that
    carries its files away.

    told: the place that names the folder, with its path as the value. sent: its config says that they are uploaded.
    """
    launch, folder = command(job, group, container), _folder(str(told.value), container)
    if not folder or job.kind in _UNSEEN or job.kind == "MPIJob" or named(job.spec, "volumes") is not None:
        return None
    mount = mount_of(group, container, folder)
    fixed = unwritable(mount, container)
    if fixed:
        data = {"folder": folder, "volume": fixed, "seen": launch is not None}
        return Observation("job-output-read-only", told, "crash", "", data=data)
    if sent or (launch is not None and launch.uploads) or _handed_over(group, container):
        return None
    if mount is not None and mount.kind not in _GONE:
        return None
    volume = "an emptyDir, not on a volume" if mount else "no volume"
    data = {"folder": folder, "volume": volume, "seen": launch is not None}
    return Observation("job-lost-output", told, "lost", "", data=data)


def mount_of(group: Group, container: At, folder: str) -> Mount | None:
    """What an absolute folder lies on; None for the image."""
    under = [one for one in mounts(group, container) if _below(folder, one.path)]
    return max(under, key=lambda one: len(one.path), default=None)


def unwritable(mount: Mount | None, container: At) -> str:
    """What a folder lies on that nothing can be written to, or ""."""
    if mount is not None:
        return _FIXED.get(mount.kind, "a volume that is mounted with readOnly") if mount.fixed else ""
    root = text(inside(container, "securityContext.readOnlyRootFilesystem"))
    return "the image, with readOnlyRootFilesystem" if root == "true" else ""


def _told(document: Document, launch: Launch | None, container: At) -> Value | None:
    """The flag that names the folder, else a variable whose name says that it does."""
    flag = output(launch) if launch is not None else None
    if flag is not None:
        return None if flag.open else place(document, flag, flag.text, "checkpoint.output_dir")
    given = variables(container)
    name = next((one for one in _VARIABLES if one in given and not open_text(text(given[one]))), "")
    if not name:
        return None
    where = value(document, given[name], text(given[name]), key=name)
    return where._replace(origin="env", field="checkpoint.output_dir")


def _folder(path: str, container: At) -> str:
    """The absolute folder; empty where the image decides what a relative one means."""
    if path.startswith("/"):
        return os.path.normpath(path)
    base = word(container, "workingDir")
    if not base.startswith("/") or open_text(base) or "://" in path or not path:
        return ""
    return os.path.normpath(os.path.join(base, path))


def _below(path: str, folder: str) -> bool:
    return folder in ("/", path) or path.startswith(folder + "/")


def _handed_over(group: Group, container: At) -> bool:
    """Whether something in the pod may carry the results away: another container, a hook, a tracker."""
    given = variables(container)
    return (
        len(group.containers) > 1
        or named(container, "lifecycle") is not None
        or any(name.startswith(("WANDB_LOG_MODEL", "HF_MLFLOW_LOG_ARTIFACTS", "CLEARML_LOG_MODEL")) for name in given)
    )


def shared_claims(document: Document, job: Job, claims: list[tuple[At, At]]) -> Iterator[Observation]:
    """Claims of this file that only one node can mount, used by pods that may lie on several."""
    pods = nodes(job) or 0
    for claim, modes in claims if pods > 1 else ():
        users = [one for one in job.pods if _mounts_claim(one, claim, job)]
        count = sum(one.replicas or 0 for one in users)
        if count > 1 and not any(_on_one_node(one) for one in users):
            data = {"claim": word(named(claim, "metadata"), "name"), "pods": count, "mode": text(items(modes)[0])}
            replacement = "ReadWriteMany" if len(items(modes)) == 1 else ""
            where = value(document, modes)
            yield Observation("job-claim-of-one-node", where, "crash", "", replacement, data=data)


def claims_of_one_node(document: Document) -> Iterator[tuple[At, At]]:
    """Claims with their access modes, if none of these serves several nodes for writing."""
    for one in objects(document):
        modes = inside(one, "spec.accessModes") if word(one, "kind") == "PersistentVolumeClaim" else None
        words = [text(item) for item in items(modes)]
        if modes is not None and words and all(name in ("ReadWriteOnce", "ReadWriteOncePod") for name in words):
            yield one, modes


def _mounts_claim(group: Group, claim: At, job: Job) -> bool:
    spaces = {word(named(one, "metadata"), "namespace") for one in (claim, job.root)} - {""}
    names = [word(named(one, "persistentVolumeClaim"), "claimName") for one in items(named(group.pod, "volumes"))]
    return len(spaces) < 2 and word(named(claim, "metadata"), "name") in names


def _on_one_node(group: Group) -> bool:
    affinity = inside(group.pod, "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution")
    keys = [word(one, "topologyKey") for one in items(affinity)]
    node = named(named(group.pod, "nodeSelector"), "kubernetes.io/hostname") or named(group.pod, "nodeName")
    return node is not None or "kubernetes.io/hostname" in keys


def output(launch: Launch) -> Flag | None:
    """The flag that names the folder of the checkpoints."""
    return first(launch.flags, *_OUTPUTS)
