"""Fields that no object has: slips in a container or a pod, and the run policy of an operator outside of `runPolicy`.

Sources: the types of core/v1 in Kubernetes 1.36 (Container, PodSpec, ResourceRequirements), RunPolicy and the specs of
kubeflow/training-operator 1.9 pkg/apis/kubeflow.org/v1/common_types.go. The server refuses what it does not know where
a client asks it to, as kubectl does since 1.27, and drops it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.lookup import closest
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, value
from loralint.model import Observation
from loralint.source.document import Document

_CONTAINER = (
    "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy"
    " resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath"
    " terminationMessagePolicy tty volumeDevices volumeMounts workingDir"
)
_POD = (
    "activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks"
    " ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets"
    " initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates"
    " resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates securityContext"
    " serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain"
    " terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes"
)
_RESOURCES = ("limits", "requests", "claims")
_POLICY = ("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "schedulingPolicy", "ttlSecondsAfterFinished")
_KUBEFLOW = frozenset({"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"})


def strangers(document: Document, job: Job) -> Iterator[Observation]:
    """Everything of this kind in a job."""
    seen: set[int] = set()
    for group, container in job.containers():
        if ".containers[" in container.key:  # a step of a workflow, or a trainer, has fields of its own
            yield from _slips(document, container, tuple(_CONTAINER.split()), "container")
            yield from _slips(document, named(container, "resources"), _RESOURCES, "container's resources")
        if group.pod is not None and group.pod.key.endswith("spec") and id(group.pod.node) not in seen:
            seen.add(id(group.pod.node))
            if items(named(group.pod, "containers")):
                yield from _slips(document, group.pod, tuple(_POD.split()), "pod")
    if job.kind in _KUBEFLOW and job.operator:
        yield from _beside_policy(document, job)


def _slips(document: Document, at: At | None, known: tuple[str, ...], what: str) -> Iterator[Observation]:
    for one in entries(at):
        name = one.label.raw if one.label is not None else ""
        meant = closest(name, known) if name not in known else ""
        if meant and named(at, meant) is None:
            data = {"what": f"no {what} has a field `{name}`", "advice": f"write `{meant}` instead of `{name}`"}
            yield Observation("job-stranger", value(document, one), "crash", "", meant, "key", data=data)


def _beside_policy(document: Document, job: Job) -> Iterator[Observation]:
    for name in _POLICY:
        one = named(job.spec, name)
        if one is not None and inside(job.spec, f"runPolicy.{name}") is None:
            told = f"a {job.kind} has `{name}` in `runPolicy` alone"
            data = {"what": told, "advice": f"move `{name}` into spec.runPolicy"}
            yield Observation("job-stranger", value(document, one), "crash", "", data=data)
