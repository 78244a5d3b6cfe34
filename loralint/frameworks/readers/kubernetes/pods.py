"""The groups of like pods that an object starts, whatever its kind calls them.

The paths are those of the kinds' own type definitions (batch/v1, Kubeflow Training Operator v1 and Trainer v2, JobSet,
Volcano, KubeRay, Argo Workflows, LeaderWorkerSet, KAITO).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.command import Place
from loralint.frameworks.readers.kubernetes.maps import ConfigMap
from loralint.frameworks.readers.kubernetes.objects import WORKFLOWS
from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, whole, word
from loralint.source.document import Document

RUNTIMES = frozenset({"TrainingRuntime", "ClusterTrainingRuntime"})
_CONTAINERS = 100  # of one job that are looked at; the largest workflow known to us has a dozen


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

    document: Document
    kind: str
    group: str
    root: At
    spec: At
    pods: tuple[Group, ...]

    @property
    def operator(self) -> bool:
        """Whether Kubeflow's Training Operator v1 runs it, which has rules of its own for restarts."""
        return self.group == "kubeflow.org" and any(pair.key.endswith("ReplicaSpecs") for pair in self.spec.node.pairs)

    @property
    def name(self) -> str:
        """What it is called; empty when the server makes a name."""
        meta = named(self.root, "metadata")
        return word(meta, "name") or word(meta, "generateName").rstrip("-")

    @property
    def namespace(self) -> str:
        """Where it runs; empty when whoever applies it says so."""
        return word(named(self.root, "metadata"), "namespace")

    def place(self, group: Group, maps: tuple[ConfigMap, ...] = ()) -> Place:
        """Where a container of a group stands. maps: those at hand besides the file's."""
        pod = group.pod
        if self.group == "argoproj.io" and named(pod, "volumes") is None:
            pod = self.spec
        entrypoint, runtime = named(self.spec, "entrypoint"), named(self.spec, "runtimeEnvYAML")
        if self.kind != "RayJob":
            entrypoint = runtime = None
        return Place(self.document, pod, maps, self.namespace, entrypoint, runtime)

    def containers(self) -> Iterator[tuple[Group, At]]:
        """Every container once; pods that share an anchor share theirs. Of very many the first ones."""
        seen: set[int] = set()
        for group in self.pods:
            for container in group.containers:
                if id(container.node.pairs) not in seen and len(seen) < _CONTAINERS:
                    seen.add(id(container.node.pairs))
                    yield group, container


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
        several = (container,) if container is not None else tuple(items(inside(one, "containerSet.containers")))
        if several:
            found.append(Group(word(one, "name"), 1, several, one, one))
    return found


def _workers(spec: At) -> list[Group]:
    """LeaderWorkerSet: one leader and size - 1 workers, which are like it where it has no template of its own."""
    sets, size = _count(named(spec, "replicas")), _count(inside(spec, "leaderWorkerTemplate.size"))
    leader = inside(spec, "leaderWorkerTemplate.leaderTemplate")
    workers = inside(spec, "leaderWorkerTemplate.workerTemplate")
    many = sets * (size - (leader is not None)) if sets is not None and size is not None else None
    return _several([_pods(leader, sets, "leader"), _pods(workers, many, "worker")])


def _replicas(spec: At) -> list[Group]:
    return _several([_pods(named(spec, "template"), _count(named(spec, "replicas")))])


def _kaiwo(spec: At) -> list[Group]:
    return _batch(job) if (job := inside(spec, "job.spec")) is not None else []


def _workspace(workspace: At) -> list[Group]:
    """KAITO makes the pods of a Workspace itself; it trains where it has a tuning."""
    tuning = named(workspace, "tuning")
    if tuning is None or tuning.node.kind != "mapping":
        return []
    return [Group("tuning", _count(inside(workspace, "resource.count")), (), None, None)]


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
    **{("argoproj.io", kind): _argo for kind in WORKFLOWS},
    ("", "Pod"): _pod,
    ("apps", "Deployment"): _replicas,
    ("apps", "StatefulSet"): _replicas,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _workers,
    ("kaiwo.silogen.ai", "KaiwoJob"): _kaiwo,
    ("kaito.sh", "Workspace"): _workspace,
}


def job_of(document: Document, at: At) -> Job | None:
    """An object as what it starts; None for a kind that starts no pods."""
    kind, group = word(at, "kind"), _group(at)
    spec = at if kind == "Workspace" else named(at, "spec")
    if spec is None or spec.node.kind != "mapping":
        return None
    made = _KINDS.get((group, kind)) or (_operator if group == "kubeflow.org" else None)
    if made is None:
        return None
    if kind == "CronJob":
        spec = inside(spec, "jobTemplate.spec")
    elif kind == "CronWorkflow":
        spec = named(spec, "workflowSpec")
    return Job(document, kind, group, at, spec, tuple(made(spec))) if spec is not None else None


def _group(at: At) -> str:
    version = word(at, "apiVersion")
    return version.partition("/")[0] if "/" in version else ""
