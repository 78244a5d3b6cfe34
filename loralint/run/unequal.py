"""Processes that a runtime of Kubeflow's Trainer starts by MPI on each node, against the GPUs that a TrainJob asks for.

Of torch's policy the newer operator counts the GPUs itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.gpus import gpu_limit, gpus
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.tree import inside, named, value, whole
from loralint.model import Observation


def unequal(job: Job, runtimes: list[Job]) -> Iterator[Observation]:
    """More processes than GPUs, or fewer, where the job leaves their number to its runtime."""
    trainer = named(job.spec, "trainer")
    limit, count = (gpu_limit(trainer), gpus(trainer)) if trainer is not None else (None, None)
    if limit is None or not count or named(trainer, "numProcPerNode") is not None:
        return
    for runtime in runtimes[:1]:
        started = whole(inside(runtime.spec, "mlPolicy.mpi.numProcPerNode"))
        if started and started != count:
            kind = "job-more-processes" if started > count else "job-fewer-processes"
            where = value(job.document, limit)._replace(field="job.processes_per_node")
            yield Observation(kind, where, "crash", "", data={"processes": started, "gpus": count})
