"""The runtimes of Kubeflow's Trainer v2 over which TrainJobs are read: of the same file, or of a manifest beside it."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, maps_of
from loralint.frameworks.readers.kubernetes.overrides import overridden
from loralint.frameworks.readers.kubernetes.pods import RUNTIMES, Group, Job
from loralint.frameworks.readers.kubernetes.trainers import laid_over, mounted
from loralint.frameworks.readers.kubernetes.training import jobs
from loralint.frameworks.readers.kubernetes.tree import At, inside, named, whole, word
from loralint.run.maps import beside
from loralint.run.project import Project
from loralint.source.document import Document


def runtimes_of(job: Job, project: Project) -> list[Job]:
    """Those that a job names, with as many pods as it asks for and what it lays over these; none for another kind."""
    name = word(inside(job.spec, "runtimeRef"), "name")
    if job.kind != "TrainJob" or not name:
        return []
    found = list(_named(job.document, name))
    if not found:
        others = (one for one in beside(job.document, project) if name in one.names)
        found = [each for one in others for each in _named(project.peek(one.path, one.shown), name)]
    found = [overridden(one, job) for one in found]
    nodes = inside(job.spec, "trainer.numNodes")
    if nodes is None:
        return found
    return [one._replace(pods=tuple(group._replace(replicas=whole(nodes)) for group in one.pods)) for one in found]


def _named(document: Document, name: str) -> Iterator[Job]:
    return (one for one in jobs(document) if one.kind in RUNTIMES and one.name == name)


def inherited(job: Job, runtime: Job) -> Iterator[tuple[Job, Group, At, tuple[ConfigMap, ...]]]:
    """The containers of a runtime as a TrainJob makes them: whose they are, the pod, the container, and the maps that
    the runtime's file lends to another one.

    Places are those of one file. Of a runtime in another file a job's own command sees what is mounted, and nothing
    else; without a command of the job's, the runtime's stands as it is.
    """
    trainer = named(job.spec, "trainer")
    for group, container in runtime.containers():
        if runtime.document is job.document:
            yield runtime, group, laid_over(trainer, container), ()
        elif trainer is not None and (named(trainer, "command") or named(trainer, "args")):
            yield job, group, mounted(trainer, container), maps_of(runtime.document)
        else:
            yield runtime, group, container, ()
