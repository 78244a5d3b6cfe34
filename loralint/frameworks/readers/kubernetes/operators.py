"""What Kubeflow's operators refuse, overwrite or repeat: Training Operator v1, MPI Operator, Trainer v2."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.gpus import gpu_limit, gpus
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.tree import items, named, open_text, text, value, whole, word
from loralint.model import Observation
from loralint.source.document import Document

# The container that each operator looks for, and whose restart policy stands where no policy is written.
_CONTAINERS = {
    "PyTorchJob": "pytorch", "TFJob": "tensorflow", "XGBoostJob": "xgboost", "PaddleJob": "paddle", "JAXJob": "jax",
}  # fmt: skip
_RESTARTS = {"PyTorchJob": "OnFailure", "PaddleJob": "OnFailure"}
# Variables that the operator of a PyTorchJob with a master writes behind the user's own, so that its value counts.
_OVERWRITTEN = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"})
# Variables that Trainer v2 keeps for itself in runtimes of torch.
_RESERVED = frozenset({"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"})


def of_operator(document: Document, job: Job) -> Iterator[Observation]:
    """Everything that stands out to the operator of this kind."""
    if job.operator:
        yield from _in_template(document, job)
        yield from _names(document, job)
        yield from _launcher(document, job)
    if job.operator and job.kind != "MPIJob":
        yield from _endless(document, job)
    if job.operator and job.kind == "PyTorchJob":
        yield from _roles(document, job)
    yield from _variables(document, job)


def _in_template(document: Document, job: Job) -> Iterator[Observation]:
    """A restart policy in the pod template, which the replica spec's overwrites."""
    for group in job.pods:
        inner, outer = named(group.pod, "restartPolicy"), named(group.policy, "restartPolicy")
        default = "" if job.kind == "MPIJob" else _RESTARTS.get(job.kind, "Never")
        policy = text(outer) or default
        if inner is not None and policy not in ("", text(inner)):
            data = {"policy": policy}
            yield Observation("job-policy-in-template", value(document, inner), "lost", "", rewrite="remove", data=data)


def _endless(document: Document, job: Job) -> Iterator[Observation]:
    """Restarts that nothing ends; of several roles the first one is told."""
    run = named(job.spec, "runPolicy")
    if named(run, "activeDeadlineSeconds") is not None:
        return
    limit = named(run, "backoffLimit")
    for group in job.pods:
        at = named(group.policy, "restartPolicy")
        policy = text(at) if at is not None else _RESTARTS.get(job.kind, "Never")
        if policy == "ExitCode" and at is not None:
            other = value(document, limit) if limit is not None else None
            where = value(document, at)._replace(field="job.restart_policy")
            yield Observation("job-exit-code", where, "changed", "", other=other, data={"policy": policy})
            return
        if policy in ("OnFailure", "Always") and limit is None:
            key = f"{job.spec.key}.runPolicy.backoffLimit"
            where = value(document, at or group.policy or job.spec, key=key)._replace(field="job.backoff_limit")
            yield Observation("job-endless-restarts", where, "changed", "", data={"policy": policy})
            return


def _names(document: Document, job: Job) -> Iterator[Observation]:
    """The operator's own container, which every role must have."""
    wanted = _CONTAINERS.get(job.kind)
    for group in job.pods if wanted else ():
        names = [named(one, "name") for one in group.containers]
        known = [one for one in names if one is not None]
        if known and all(text(one) != wanted and not open_text(text(one)) for one in known):
            fixed = (wanted or "", "value") if len(known) == 1 else ("", "")
            data = {"wanted": wanted, "role": group.role}
            yield Observation("job-container-name", value(document, known[0]), "crash", "", *fixed, data=data)


def _roles(document: Document, job: Job) -> Iterator[Observation]:
    """A PyTorchJob has one master and any number of workers, and nothing else."""
    for group in job.pods:
        count = named(group.policy, "replicas")
        if group.role.lower() == "master" and whole(count) not in (None, 1) and count is not None:
            yield Observation("job-masters", value(document, count), "crash", "", "1", "value")
        if group.role.lower() not in ("master", "worker") and group.policy is not None:
            at = group.policy
            where = value(document, at._replace(node=at.label or at.node))
            yield Observation("job-role", where, "crash", "", data={"role": group.role})


def _launcher(document: Document, job: Job) -> Iterator[Observation]:
    """GPUs of a launcher, which MPI Operator hides from it unless it works as well."""
    if job.kind != "MPIJob" or "runLauncherAs" in " ".join(pair.key for pair in job.spec.node.pairs):
        return
    for group in job.pods if len(job.pods) > 1 else ():
        for container in group.containers:
            at = gpu_limit(container)
            if group.role.lower() == "launcher" and at is not None and gpus(container):
                data = {"gpus": gpus(container)}
                yield Observation("job-launcher-gpus", value(document, at), "lost", "", data=data)


def _variables(document: Document, job: Job) -> Iterator[Observation]:
    """Variables of the launch that the operator sets by itself."""
    mastered = any(group.role.lower() == "master" for group in job.pods)
    overwritten = _OVERWRITTEN if job.operator and job.kind == "PyTorchJob" and mastered else frozenset()
    reserved = _RESERVED if job.kind == "TrainJob" else frozenset()
    for _, container in job.containers():
        for one in items(named(container, "env")):
            name, at = word(one, "name"), named(one, "name")
            if at is not None and name in reserved:
                yield Observation("job-reserved", value(document, at, key=name), "crash", "", data={"variable": name})
            elif at is not None and name in overwritten:
                yield Observation("job-overwritten", value(document, at, key=name), "lost", "", data={"variable": name})
