"""Jobs and ConfigMaps as the patches of a kustomization leave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.maps import ConfigMap
from loralint.frameworks.readers.kubernetes.objects import objects
from loralint.frameworks.readers.kubernetes.patched import UnclearError
from loralint.frameworks.readers.kubernetes.patches import Patch, Said, changed_by, knows_lists, laid_over, texts_over
from loralint.frameworks.readers.kubernetes.pods import Job, job_of
from loralint.model import Note
from loralint.source.document import Document, Node
from loralint.source.joined import join
from loralint.source.shown import shown


class Change(NamedTuple):
    """A patch, or a key whose effect nobody sees. said: what it is called; objects: what it holds, if it is a patch;
    document: that they stand in; own: whether that is a file of the patch alone.
    """

    said: str
    patch: Patch | None
    objects: tuple[Node, ...] = ()
    document: Document | None = None
    own: bool = False

    def changes(self, job: Job) -> bool:
        """Whether it changes what a job trains."""
        return self.patch is None or changed_by(self.patch, self.objects, Said(job.kind, job.name, job.group))


def patched_job(job: Job, changes: Sequence[Change], *, teaches: bool) -> Job | None:
    """A job as these leave it; None where only building tells. teaches: Kustomize may know lists of further kinds."""
    said = Said(job.kind, job.name, job.group)
    seen = [(one.document, one.objects) for one in changes if one.document is not None and not one.document.problems]
    if len(seen) < len(changes) or (teaches and not knows_lists(said)):
        return None
    document, moved = join(job.document, seen)
    root = job.root.node
    try:
        for one, nodes in zip(changes, moved, strict=True):
            assert one.patch is not None  # what is none has no document
            root = laid_over(one.patch, nodes, root, said)
    except UnclearError:
        return None
    others = [one.node for one in objects(job.document) if one.node is not job.root.node]
    document.roots = [root, *others]
    return job_of(document, job.root._replace(node=root))


def patched_maps(maps: Mapping[str, ConfigMap], changes: Iterable[Change]) -> tuple[dict[str, ConfigMap], list[Note]]:
    """The maps that patches change, as they leave them, and what is to be said of those that nobody can follow."""
    found: dict[str, ConfigMap] = {}
    notes: list[Note] = []
    for one in changes:
        for name in maps if one.objects else ():
            below = found.get(name, maps[name])
            assert one.patch is not None  # whose the objects are
            assert one.document is not None
            if not changed_by(one.patch, one.objects, Said("ConfigMap", name)):
                continue
            try:
                found[name] = texts_over(one.patch, one.objects, one.document, below)
            except UnclearError:
                found[name] = ConfigMap(name, below.namespace, {}, whole=False)
                told = f"what the ConfigMap `{shown(name)}` holds: Kustomize {one.said} changes it"
                notes.append(Note("not-checked", told))
    return found, notes
