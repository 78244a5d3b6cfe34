"""Training starts of a kustomization: the jobs of its manifests with the ConfigMaps that it makes."""

from __future__ import annotations

import os
from collections.abc import Iterable

from loralint.frameworks.detect import is_template_text
from loralint.frameworks.readers.kubernetes import READER, started
from loralint.frameworks.readers.kubernetes.kustomize import Image, follows_names, renamed_image
from loralint.frameworks.readers.kubernetes.missing import named_maps, renamed_maps
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.training import jobs_by
from loralint.frameworks.readers.kubernetes.tree import word
from loralint.model import Note
from loralint.run.build import Part, Start
from loralint.run.images import released
from loralint.run.kustomized import Built, built
from loralint.run.manifests import MOST_JOBS, job_starts, seen, with_files
from loralint.run.mapped import unmounted_starts
from loralint.run.maps import maps_around
from loralint.run.options import Options
from loralint.run.patched import Change, patched_job
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.shown import shown

_NOTHING = READER._replace(combine=None, observe=(), table=())


def kustomization_starts(document: Document, options: Options, project: Project) -> list[Start]:
    """The runs of a kustomization's own manifests, and those of manifests below it that it changes."""
    found = built(document, project)
    if found is None:
        return []
    several = [one for each in found.manifests for one in overlaid(each, found, options, project, listed=True)]
    several += [one for each in found.below for one in overlaid(each, found, options, project, listed=False)]
    for manifest in found.manifests:
        several += unmounted_starts(manifest, options, project, beside=several)
    if several and found.notes:
        several[0] = several[0]._replace(notes=(*several[0].notes, *dict.fromkeys(found.notes)))
    whole = [one.file for one in found.manifests if not one.problems and not is_template_text(one.text)]
    files = whole + [part.source.file for start in several for part in start.parts]
    files += [one.document.file for one in found.changes if one.own and one.document is not None]
    project.claimed |= {os.path.realpath(one) for one in files}
    return several


def overlaid(manifest: Document, found: Built, options: Options, project: Project, *, listed: bool) -> list[Start]:
    """The runs of a manifest under a kustomization. listed: by itself; others only count where it changes them."""
    several: list[Start] = []
    hidden = jobs_by(manifest, found.maps.values())
    jobs = [*started(manifest)[:MOST_JOBS], *hidden[:MOST_JOBS]]
    for job in jobs if not is_template_text(manifest.text) else ():
        changes = [one for one in (*found.others, *found.changes) if one.changes(job)]
        names = {word(one, "name") for one in named_maps(job)}
        images = _images(changes, found)
        moved = images is not None and _versions(job, found.images_below) != _versions(job, images)
        if not (listed or found.changes_any(changes) or names & found.own or moved):
            continue
        made = patched_job(job, changes, teaches=found.teaches) if changes else job
        if made is None:
            several.append(_changed(job, changes[-1], found))
            continue
        around = maps_around(manifest, project, options.configmaps)
        around = tuple(one for one in around if one.name not in found.maps or one.name in options.configmaps)
        maps = (*around, *found.maps.values())
        renamed = {} if found.teaches or follows_names(made) else found.renamed
        own = job_starts(made, maps, options, project, tuple(renamed_maps(made, renamed)), images)
        files = {one.document.file: one.document for one in changes if one.document is not None}
        several += [with_files(one, files.values()) for one in own if job not in hidden or seen(one)]
    return several


def _images(changes: list[Change], found: Built) -> tuple[Image, ...] | None:
    """What becomes of a job's images; None where a patch may have changed them in between."""
    if found.images_below and any(one.document is not None and "image" in one.document.text for one in changes):
        return None
    return (*found.images_below, *found.images)


def _versions(job: Job, images: Iterable[Image]) -> dict[str, str]:
    """The releases that the images of a job hold."""
    return released(renamed_image(word(one, "image"), images) for _, one in job.containers())


def _changed(job: Job, change: Change, found: Built) -> Start:
    """A job of which only building would tell what it runs."""
    folder = os.path.dirname(found.document.file) or "."
    said = f"Kustomize {change.said} changes the {job.kind} `{shown(job.name)}`"
    said = f"{said}: check what `kustomize build {shown(folder)}` prints"
    part = Part("manifest", job.document, _NOTHING, job.document)
    notes = (Note("not-checked", said),)
    return Start((part,), _NOTHING, f"`kind: {job.kind}`", notes=notes, open="Kustomize patch")
