"""What is to be observed about the objects themselves: what the API server or an operator refuses, drops or repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loralint.frameworks.readers.kubernetes.addresses import nobody
from loralint.frameworks.readers.kubernetes.caches import unwritable_cache
from loralint.frameworks.readers.kubernetes.counts import misfitted
from loralint.frameworks.readers.kubernetes.gpus import (
    accelerators,
    asks_for_gpus,
    extended,
    gpu_names,
    node_label,
    resource,
    resources,
)
from loralint.frameworks.readers.kubernetes.misplaced import misplaced
from loralint.frameworks.readers.kubernetes.objects import objects
from loralint.frameworks.readers.kubernetes.operators import of_operator
from loralint.frameworks.readers.kubernetes.pods import Group, Job
from loralint.frameworks.readers.kubernetes.processes import devices, misfits, variables
from loralint.frameworks.readers.kubernetes.ray_entry import split_entry
from loralint.frameworks.readers.kubernetes.storage import claims_of_one_node, lost_output, shared_claims, small_memory
from loralint.frameworks.readers.kubernetes.strangers import strangers
from loralint.frameworks.readers.kubernetes.texts import labels, map_texts, texts
from loralint.frameworks.readers.kubernetes.training import jobs
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, open_text, text, value, word
from loralint.frameworks.table import Look
from loralint.model import Observation
from loralint.source.document import Document
from loralint.source.secrets import credential, find, redact_shapes

_PLACEHOLDER = re.compile(
    r"<.*>|\[.*\]|x{3,}|\*+|\.{3}|-+|(?:null|none|dummy|empty|changeme|todo|tbd|false|true|0|1)", re.IGNORECASE
)
_INDEX = re.compile(r"\$(?:JOB_COMPLETION_INDEX\b|\{JOB_COMPLETION_INDEX\})")


def faults(document: Document, look: Look) -> list[Observation]:
    """Everything that stands out in the training jobs of a file."""
    del look
    return of_jobs(document, jobs(document))


def of_jobs(document: Document, found: Sequence[Job]) -> list[Observation]:
    """Everything that stands out in some of its jobs."""
    claims, spaces = list(claims_of_one_node(document)), list(_injecting(document))
    alone = [one for job in found for one in _of_job(document, job)]
    shared = [one for job in found for one in shared_claims(document, job, claims)]
    shared += map_texts(document, found)
    return [*alone, *shared, *(one for job in found for one in _sidecar(document, job, spaces))]


def _of_job(document: Document, job: Job) -> Iterator[Observation]:
    for group, container in job.containers():
        for one in (container, *items(named(group.pod, "initContainers"))):
            yield from _amounts(document, group, one)
            yield from texts(document, one)
            yield from _credentials(document, one)
    yield from labels(document, job)
    yield from _of_batch(document, job)
    yield from of_operator(document, job)
    yield from _without_gpu(document, job)
    yield from _index(document, job)
    yield from misfits(document, job)
    yield from misfitted(document, job)
    yield from devices(document, job)
    yield from small_memory(document, job)
    yield from lost_output(document, job)
    yield from unwritable_cache(document, job)
    yield from nobody(document, job)
    yield from misplaced(document, job)
    yield from strangers(document, job)
    yield from split_entry(document, job)


def _amounts(document: Document, group: Group, container: At) -> Iterator[Observation]:
    """Extended resources: a limit is a must, a request may only repeat it, and both are whole numbers."""
    held = resources(container)
    limits, requests = named(held, "limits"), named(held, "requests")
    autopilot = named(named(group.pod, "nodeSelector"), "cloud.google.com/compute-class") is not None
    for one in extended(requests):
        limit = named(limits, resource(one))
        data = {"resource": resource(one), "request": text(one), "limit": text(limit), "autopilot": autopilot}
        data["unless"] = ", unless GKE's Autopilot adds it" if autopilot else ""
        if limit is None and text(one) not in ("0", ""):
            where = value(document, one, key=f"{held.key}.limits" if held else "")._replace(field="job.gpus_per_node")
            yield Observation("job-limit-missing", where, "crash", "", data=data)
        elif limit is not None and text(one) != text(limit) and not open_text(text(one) + text(limit)):
            where = value(document, one)
            yield Observation(
                "job-request-differs", where, "crash", "", text(limit), "value", other=value(document, limit), data=data
            )
    for one in [*accelerators(limits), *accelerators(requests)]:
        if re.fullmatch(r"\d+\.\d*[1-9]\d*|\.\d+|\d+m", text(one)):
            yield Observation("job-part-of-gpu", value(document, one), "crash", "", data={"resource": resource(one)})


def _credentials(document: Document, container: At) -> Iterator[Observation]:
    """Variables named like a credential with a value in the open; what is a secret by its shape is told as such."""
    for one in items(named(container, "env")):
        name, given = named(one, "name"), named(one, "value")
        raw = text(given).strip()
        if name is None or given is None or not credential(text(name)):
            continue
        if not raw or open_text(raw) or _PLACEHOLDER.fullmatch(raw) or raw.startswith("/") or redact_shapes(raw) != raw:
            continue
        where = value(document, name, key=text(name))._replace(text="***", pointer=given.pointer)
        data = {"variable": text(name), "real": find(text(name), raw) is not None}
        yield Observation("job-credential", where, "harmless", "", data=data)


def _of_batch(document: Document, job: Job) -> Iterator[Observation]:
    """A Job's pods may not restart always, which is what they do when nobody says otherwise."""
    for group in job.pods if job.group == "batch" else ():
        at = named(group.pod, "restartPolicy")
        if group.pod is not None and text(at) not in ("Never", "OnFailure") and not open_text(text(at)):
            where = value(
                document, at or named(group.pod, "containers") or group.pod, key=f"{group.pod.key}.restartPolicy"
            )
            yield Observation("job-restarts-always", where, "crash", "", data={"policy": text(at) or "Always"})


def _without_gpu(document: Document, job: Job) -> Iterator[Observation]:
    """A node is chosen for its GPU, but no container asks for one."""
    if any(asks_for_gpus(one) for _, one in job.containers()):
        return
    for group in job.pods:
        label, names = node_label(group.pod), gpu_names(group.pod)
        if label is not None and names is not None and not _by_other_ways(group):
            yield Observation(
                "job-no-gpu-asked", value(document, label[0]), "changed", "", data={"gpu": ", ".join(names[1])}
            )
            return


def _by_other_ways(group: Group) -> bool:
    """Ways to a GPU that need no resource: claims, a privileged container, a runtime class, NVIDIA's own variable."""
    own = [inside(one, "securityContext.privileged") for one in group.containers]
    return (
        named(group.pod, "resourceClaims") is not None
        or named(group.pod, "runtimeClassName") is not None
        or any(text(one) == "true" for one in own)
        or any("NVIDIA_VISIBLE_DEVICES" in variables(one) for one in group.containers)
    )


def _index(document: Document, job: Job) -> Iterator[Observation]:
    """A rank taken from the completion index of a Job that gives its pods none."""
    mode = named(job.spec, "completionMode")
    if job.group != "batch" or (mode is not None and text(mode) != "NonIndexed"):
        return
    for _, container in job.containers():
        env = {word(one, "name") for one in items(named(container, "env"))}
        for one in [one for name in ("command", "args") for one in items(named(container, name))]:
            if "JOB_COMPLETION_INDEX" not in env and _INDEX.search(text(one)):
                where = value(document, mode or one, key=f"{job.spec.key}.completionMode")
                yield Observation("job-index-missing", where, "crash", "", data={})
                return


def _injecting(document: Document) -> Iterator[At]:
    """The metadata of this file's namespaces in which Istio adds its proxy to every pod."""
    for one in objects(document):
        meta = named(one, "metadata") if word(one, "kind") == "Namespace" else None
        if meta and word(named(meta, "labels"), "istio-injection") == "enabled":
            yield meta


def _sidecar(document: Document, job: Job, spaces: list[At]) -> Iterator[Observation]:
    """A proxy that Istio will inject, since a namespace of this file says so; of several groups the first is told."""
    own = word(named(job.root, "metadata"), "namespace")
    space = next((one for one in spaces if word(one, "name") == own), None)
    for group in job.pods if space is not None else ():
        meta, at = named(group.template, "metadata"), group.template
        says = [word(named(meta, part), "sidecar.istio.io/inject") for part in ("labels", "annotations")]
        if space is not None and at is not None and not {"true", "false"} & set(says):
            key = f"{at.key}.metadata.labels.sidecar.istio.io/inject"
            where = value(document, at._replace(node=at.label or at.node), key=key)
            yield Observation("job-sidecar", where, "changed", "", other=value(document, space), data={"space": own})
            return
