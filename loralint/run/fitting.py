"""Whether the processes that accelerate's file asks for fit the GPUs of the pod whose container reads it."""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.readers.kubernetes.gpus import gpu_limit, gpus
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.tree import At, value
from loralint.model import Observation
from loralint.run.build import Part, Start
from loralint.source.document import Document, Pair


def fitted(start: Start, job: Job, container: At) -> Start:
    """The start with what is wrong with the number of processes; the launcher's own flag counts before the file."""
    flags = [part.document.root for part in start.parts if part.kind == "launcher"]
    said = [root.pair(key) for root in flags if root is not None for key in ("num_processes", "num_machines")]
    if "accelerate" not in start.launchers or any(said):
        return start
    parts = [_fitted(part, job, container) if part.kind == "accelerate" else part for part in start.parts]
    return start._replace(parts=tuple(parts))


def _fitted(part: Part, job: Job, container: At) -> Part:
    total, machines = _pair(part.document, "num_processes"), _pair(part.document, "num_machines")
    count, limit, many = gpus(container), gpu_limit(container), _whole(machines) if machines else 1
    asked = _whole(total) if total is not None else None
    if total is None or limit is None or not count or not asked or not many or asked % many or asked // many == count:
        return part
    kind = "job-more-processes" if asked // many > count else "job-fewer-processes"
    where = place(part.document, total, total.key)._replace(field="job.processes_per_node")
    data = {"processes": asked // many, "gpus": count}
    told = Observation(kind, where, "crash", "", other=value(job.document, limit), data=data)
    return part._replace(observations=(*part.observations, told))


def _pair(document: Document, key: str) -> Pair | None:
    return document.root.pair(key) if document.root is not None else None


def _whole(pair: Pair) -> int | None:
    raw = pair.value.raw
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 8 else None
