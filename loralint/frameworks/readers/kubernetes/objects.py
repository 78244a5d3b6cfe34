"""The jobs of a manifest and the groups of like pods that each starts, whatever its kind calls them.

The paths are those of the kinds' own type definitions (batch/v1, Kubeflow Training Operator v1 and Trainer v2, JobSet,
Volcano, KubeRay, Argo Workflows, Kueue's AppWrapper).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.gpus import asks_for_gpus, node_label
from loralint.frameworks.readers.kubernetes.launch import launch_of
from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, text, top, whole, word
from loralint.source.document import Document

# Nobody asks for one of these kinds but to train.
TRAINING = frozenset({"PyTorchJob", "TrainJob", "TrainingRuntime", "ClusterTrainingRuntime", "HyperPodPyTorchJob"})
RUNTIMES = frozenset({"TrainingRuntime", "ClusterTrainingRuntime"})
# What says by itself that a command trains, and what does where a GPU is asked for as well.
_TRAINS = re.compile(
    r"torchrun|torch\.distributed|accelerate[ -]launch|deepspeed|axolotl|llama-?factory|(?<![a-z])q?lora(?!wan|x)"
    r"|fine[-_]?tun|\b(?:trl|swift) (?:sft|dpo|grpo|kto|rlhf)|\btune run\b|\bsft\b|unsloth",
    re.IGNORECASE,
)
_MAY_TRAIN = re.compile(r"train|pretrain|sft|dpo|grpo|peft|dreambooth", re.IGNORECASE)
_SERVES = re.compile(
    r"vllm|sglang|text-generation|\btgi\b|triton|infer|serv(?:e|ing|er)\b|benchmark|nccl|nvidia-smi|vector-?add|embed"
    r"|eval|notebook|jupyter|lm_eval|cuda-sample|ollama|\btest",
    re.IGNORECASE,
)
_SERVES_LORA = re.compile(r"vllm|sglang|lorax|text-generation|ollama", re.IGNORECASE)
# Scripts beside a training: they prepare, merge or measure.
_BESIDE = re.compile(
    r"merge|convert|export|download|upload|toke?ni[sz]|prepar|preproc|consolid|infer|serv|eval|generat|chat|bench|reduce"
    r"|nccl|quanti[sz]e",
    re.IGNORECASE,
)
_DEEP = 4  # lists and wrappers within one another


class Group(NamedTuple):
    """Pods that are alike. pod: their spec; of a TrainJob None, since it stands in the runtime. replicas: None if open.

    policy: where their restart policy stands, or would stand.
    """

    role: str
    replicas: int | None
    containers: tuple[At, ...]
    pod: At | None
    template: At | None
    policy: At | None = None


class Job(NamedTuple):
    """One object that starts a training. group: of its API, such as kubeflow.org; spec: what holds its own settings."""

    kind: str
    group: str
    root: At
    spec: At
    pods: tuple[Group, ...]

    @property
    def operator(self) -> bool:
        """Whether Kubeflow's Training Operator v1 runs it, which has rules of its own for restarts."""
        return self.group == "kubeflow.org" and any(pair.key.endswith("ReplicaSpecs") for pair in self.spec.node.pairs)

    def containers(self) -> Iterator[tuple[Group, At]]:
        """Every container once; pods that share an anchor share theirs."""
        seen = set()
        for group in self.pods:
            for container in group.containers:
                if id(container.node.pairs) not in seen:
                    seen.add(id(container.node.pairs))
                    yield group, container


def objects(document: Document) -> Iterator[At]:
    """Every object of the file, those in lists and wrappers as well."""
    for root in document.roots:
        yield from _unpacked(top(root), _DEEP)


def _unpacked(at: At, depth: int) -> Iterator[At]:
    kind = word(at, "kind")
    if depth and kind == "List":
        for item in items(named(at, "items")):
            yield from _unpacked(item, depth - 1)
    elif depth and kind == "AppWrapper":
        for component in items(inside(at, "spec.components")):
            wrapped = named(component, "template")
            if wrapped is not None:
                yield from _unpacked(wrapped, depth - 1)
    elif at.node.kind == "mapping":
        yield at


@lru_cache(maxsize=1)  # recognising, reading and observing a file ask one after another
def jobs(document: Document) -> tuple[Job, ...]:
    """The objects that start a training; a job for anything else, and what is no job, is left out."""
    return tuple(job for at in objects(document) if (job := _job(at)) is not None and trains(job))


def _job(at: At) -> Job | None:
    kind, group = word(at, "kind"), _group(at)
    spec = named(at, "spec")
    if spec is None or spec.node.kind != "mapping":
        return None
    made = _KINDS.get((group, kind)) or (_operator if group == "kubeflow.org" else None)
    if made is None:
        return None
    if kind == "CronJob":
        spec = inside(spec, "jobTemplate.spec")
    elif kind == "CronWorkflow":
        spec = named(spec, "workflowSpec")
    return Job(kind, group, at, spec, tuple(made(spec))) if spec is not None else None


def _group(at: At) -> str:
    version = word(at, "apiVersion")
    return version.partition("/")[0] if "/" in version else ""


def trains(job: Job) -> bool:
    """Whether the job is a training; one that asks for GPUs and does not say otherwise counts."""
    if job.kind in TRAINING:
        return True
    scripts = [os.path.basename(one) for one in _scripts(job)]
    if scripts and all(_BESIDE.search(one) and not _MAY_TRAIN.search(one) for one in scripts):
        return False
    if job.kind == "Pod" and not any(_MAY_TRAIN.search(one) or _TRAINS.search(one) for one in scripts):
        return False
    said = " ".join([word(named(job.root, "metadata"), "name"), *(_said(one) for _, one in job.containers())])
    said = f"{said} {word(job.spec, 'entrypoint')}"
    if _TRAINS.search(said) and not _SERVES_LORA.search(said):
        return True
    return _on_gpus(job) and bool(_MAY_TRAIN.search(said) or not _SERVES.search(said))


def _scripts(job: Job) -> Iterator[str]:
    """What the containers launch: a script, or the program itself where it needs none."""
    for _, container in job.containers():
        launch = launch_of(container, named(job.spec, "entrypoint") if job.kind == "RayJob" else None)
        if launch is not None:
            yield launch.script or launch.program


def _on_gpus(job: Job) -> bool:
    return any(asks_for_gpus(one) for _, one in job.containers()) or any(node_label(group.pod) for group in job.pods)


def _said(container: At) -> str:
    words = [text(one) for name in ("command", "args") for one in items(named(container, name))]
    image = os.path.basename(word(container, "image")).partition(":")[0]
    return " ".join([image, *words, word(container, "source")])


def _pods(template: At | None, replicas: int | None, role: str = "", policy: At | None = None) -> Group | None:
    pod = named(template, "spec")
    if template is None or pod is None:
        return None
    return Group(role, replicas, tuple(items(named(pod, "containers"))), pod, template, policy or pod)


def _several(groups: list[Group | None]) -> list[Group]:
    return [one for one in groups if one is not None]


def _count(at: At | None) -> int | None:
    """A number of replicas: 1 where nobody says, None where it is filled in later."""
    return 1 if at is None else whole(at)


def _batch(spec: At) -> list[Group]:
    return _several([_pods(named(spec, "template"), _count(named(spec, "parallelism")))])


def _operator(spec: At) -> list[Group]:
    """Training Operator v1 and MPI Operator: one replica spec for each role."""
    specs = next((one for one in entries(spec) if one.key.endswith("ReplicaSpecs")), None)
    return _several(
        [
            _pods(named(one, "template"), _count(named(one, "replicas")), one.key.rpartition(".")[2], one)
            for one in entries(specs)
        ]
    )


def _hyperpod(spec: At) -> list[Group]:
    return _several(
        [_pods(named(one, "template"), _count(named(one, "replicas")), word(one, "name"))
         for one in items(named(spec, "replicaSpecs"))]
    )  # fmt: skip


def _train_job(spec: At) -> list[Group]:
    trainer = named(spec, "trainer")
    if trainer is None or trainer.node.kind != "mapping":
        return []
    nodes = named(trainer, "numNodes")
    return [Group("trainer", whole(nodes), (trainer,), None, None)]  # the runtime decides where numNodes is absent


def _runtime(spec: At) -> list[Group]:
    """Only the step that trains; initializers fetch data and models."""
    nodes = _count(inside(spec, "mlPolicy.numNodes"))
    groups = _job_set(named(named(spec, "template"), "spec"))
    steps = [one for one in groups if not one.role.endswith("-initializer")]
    return [one._replace(replicas=nodes) for one in steps]


def _job_set(spec: At | None) -> list[Group]:
    found = []
    for one in items(named(spec, "replicatedJobs")):
        job = inside(one, "template.spec")
        count, pods = _count(named(one, "replicas")), _count(named(job, "parallelism"))
        replicas = count * pods if count is not None and pods is not None else None
        found.append(_pods(named(job, "template"), replicas, word(one, "name")))
    return _several(found)


def _volcano(spec: At) -> list[Group]:
    tasks = items(named(spec, "tasks"))
    return _several([_pods(named(one, "template"), _count(named(one, "replicas")), word(one, "name")) for one in tasks])


def _ray(spec: At) -> list[Group]:
    cluster = named(spec, "rayClusterSpec")
    workers = items(named(cluster, "workerGroupSpecs"))
    head = _pods(inside(cluster, "headGroupSpec.template"), 1, "head")
    groups = [_pods(named(one, "template"), _count(named(one, "replicas")), word(one, "groupName")) for one in workers]
    return _several([head, *groups])


def _argo(spec: At) -> list[Group]:
    """A template is a pod of one container, or of a script; its volumes stand beside the templates."""
    found = []
    for one in items(named(spec, "templates")):
        container = named(one, "container") or named(one, "script")
        if container is not None:
            found.append(Group(word(one, "name"), 1, (container,), one, one))
    return found


def _pod(spec: At) -> list[Group]:
    return [Group("", 1, tuple(items(named(spec, "containers"))), spec, None)]


_KINDS: dict[tuple[str, str], Callable[[At], list[Group]]] = {
    ("batch", "Job"): _batch,
    ("batch", "CronJob"): _batch,
    ("trainer.kubeflow.org", "TrainJob"): _train_job,
    ("trainer.kubeflow.org", "TrainingRuntime"): _runtime,
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"): _runtime,
    ("kubeflow.org", "TrainJob"): _train_job,
    ("sagemaker.amazonaws.com", "HyperPodPyTorchJob"): _hyperpod,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("batch.volcano.sh", "Job"): _volcano,
    ("ray.io", "RayJob"): _ray,
    **{
        ("argoproj.io", kind): _argo
        for kind in ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
    },
    ("", "Pod"): _pod,
}
