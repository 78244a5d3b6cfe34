"""Objects by name: those that another one takes its training from, a TrainJob's runtime or a workflow's template."""

from __future__ import annotations

from typing import NamedTuple

from loralint.webhook.flows import reached
from loralint.webhook.objects import Lent, Object, group_kind, lent, mapping
from loralint.webhook.resources import NAME, Resource

_TRAINER, _ARGO = "trainer.kubeflow.org", "argoproj.io"
# What may be referred to: with the rights of the chart nothing else could be asked for.
REFERRED = (
    Resource(_TRAINER, "TrainingRuntime"),
    Resource(_TRAINER, "ClusterTrainingRuntime"),
    Resource(_ARGO, "WorkflowTemplate"),
    Resource(_ARGO, "ClusterWorkflowTemplate"),
)

_OWN = {"entry": "entrypoint", "leave": "onExit"}


class Wanted(NamedTuple):
    """An object of which only the name is known. version: of its group. entry, leave: see `flows.reached`."""

    group: str
    version: str
    kind: str
    name: str
    entry: str = ""
    leave: str = ""

    @property
    def resource(self) -> Resource:
        """Its kind."""
        return Resource(self.group, self.kind)

    @property
    def shown(self) -> str:
        """As warnings and places call it."""
        return f"{self.kind}/{self.name}"


def config_map(name: str) -> Wanted:
    """A ConfigMap of that name."""
    return Wanted("", "v1", "ConfigMap", name)


def referred(obj: Object) -> tuple[Wanted, ...]:
    """What an object takes its training from and does not hold itself; one at most, of its own group and version."""
    spec, kind = mapping(obj.get("spec")), group_kind(obj)
    if kind == (_TRAINER, "TrainJob"):
        return _runtime(obj, mapping(spec.get("runtimeRef")))
    if kind == (_ARGO, "CronWorkflow"):
        spec = mapping(spec.get("workflowSpec"))
    elif kind != (_ARGO, "Workflow"):
        return ()
    template = mapping(spec.get("workflowTemplateRef"))
    whole = "Cluster" if template.get("clusterScope") is True else ""
    own = {name: said for name, key in _OWN.items() if isinstance(said := spec.get(key), str)}
    return tuple(one._replace(**own) for one in _wanted(obj, f"{whole}WorkflowTemplate", template.get("name")))


def lent_by(wanted: Wanted, obj: Object) -> Lent:
    """What was found, as far as whoever refers to it uses it. Raises TooLargeError."""
    return lent(reached(obj, wanted.entry, wanted.leave) if wanted.group == _ARGO else obj)


def _runtime(obj: Object, reference: Object) -> tuple[Wanted, ...]:
    """The runtime, whose group and kind are these where nobody says."""
    if reference.get("apiGroup") not in (None, _TRAINER):
        return ()
    return _wanted(obj, reference.get("kind") or "ClusterTrainingRuntime", reference.get("name"))


def _wanted(obj: Object, kind: object, name: object) -> tuple[Wanted, ...]:
    group, _, version = str(obj.get("apiVersion")).rpartition("/")
    known = any(one == (group, kind) for one in REFERRED)
    if not known or not isinstance(name, str) or not NAME.fullmatch(name):
        return ()
    return (Wanted(group, version, str(kind), name),)
