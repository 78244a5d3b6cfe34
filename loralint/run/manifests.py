"""Training starts of a Kubernetes manifest: each job with the launches, ConfigMaps and variables of its containers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loralint.frameworks.companions.installed import installed
from loralint.frameworks.detect import is_template_text
from loralint.frameworks.launch.inline import inline_programs
from loralint.frameworks.launched import Launch
from loralint.frameworks.readers.kubernetes import READER, reader_of, started
from loralint.frameworks.readers.kubernetes.command import Executed, Place, executed, runtime_env
from loralint.frameworks.readers.kubernetes.kustomize import Image, renamed_image
from loralint.frameworks.readers.kubernetes.maps import ConfigMap
from loralint.frameworks.readers.kubernetes.missing import missing_keys
from loralint.frameworks.readers.kubernetes.overrides import overrule
from loralint.frameworks.readers.kubernetes.pods import Group, Job
from loralint.frameworks.readers.kubernetes.scripts import called
from loralint.frameworks.readers.kubernetes.training import jobs_by
from loralint.frameworks.readers.kubernetes.tree import At, word
from loralint.frameworks.readers.kubernetes.workflows import bindings
from loralint.model import Note, Observation
from loralint.run.build import Part, Start
from loralint.run.companions import joined, missing
from loralint.run.fitting import fitted
from loralint.run.images import released
from loralint.run.inner import encoded, settled
from loralint.run.kept import kept
from loralint.run.kustomized import kustomization_of
from loralint.run.lacking import beyond, lacking
from loralint.run.launches import MOST, of_launch
from loralint.run.mapped import mapped_starts, tuning_start, unmounted_starts
from loralint.run.maps import maps_around
from loralint.run.mounts import Mounts, finder
from loralint.run.options import Options
from loralint.run.pins import pins_near
from loralint.run.project import Project
from loralint.run.runtimes import inherited, runtimes_of
from loralint.run.scripts import script_starts
from loralint.run.surroundings import of_caller
from loralint.run.unequal import unequal
from loralint.run.unseen import unread, unseen
from loralint.run.workflows import templates_beside, used, using
from loralint.source.document import Document
from loralint.source.joined import source_of

# A file with more jobs is a sweep, of which the first ones tell what there is to tell.
MOST_JOBS = 64
_PINNED = re.compile(r"([A-Za-z][\w.-]*)(?:\[[\w,.-]*\])?==(\d[\w.]*)")


class Container(NamedTuple):
    """One container of a job, where it stands, and what it runs."""

    job: Job
    group: Group
    at: At
    place: Place
    executed: tuple[Executed, ...]


def manifest_starts(document: Document, options: Options, project: Project) -> list[Start]:
    """One for each launch of each job; one for a job of which nobody sees the launch."""
    if is_template_text(document.text):
        return []
    lending, untold = templates_beside(document, project)
    if lending:
        project.claimed.add(os.path.realpath(document.file))  # they may use templates of this one as well
    fresh = [one for one in lending if not project.is_claimed(one.file)]
    lent = [start for one in fresh for start in manifest_starts(one, options, project)]
    others = using(document, project)
    whole = used(document, others)
    found = [one for one in started(whole) if one.root.node.start < len(document.text) and (one.pods or not lending)]
    maps = maps_around(document, project, options.configmaps)
    hidden = jobs_by(document, maps)
    if not found and not hidden:
        return [*lent, *unmounted_starts(document, options, project, beside=lent)]
    around = kustomization_of(document, project)
    if around is not None:
        from loralint.run.overlaid import overlaid

        several = overlaid(document, around, options, project, listed=True)
    else:
        several = [one for job in found[:MOST_JOBS] for one in job_starts(job, maps, options, project)]
        several += [one for job in hidden[:MOST_JOBS] for one in job_starts(job, maps, options, project) if seen(one)]
        files = [one for one, _ in others]
        several = [with_files(one._replace(notes=(*one.notes, *untold)), files) for one in several]
    several += lent
    if len(found) > MOST_JOBS:
        said = f"{len(found) - MOST_JOBS} more jobs of the file: only the first {MOST_JOBS} are looked at"
        several[0] = several[0]._replace(notes=(*several[0].notes, Note("not-checked", said)))
    return several + unmounted_starts(document, options, project, beside=several)


def job_starts(
    job: Job, maps: tuple[ConfigMap, ...], options: Options, project: Project, told: tuple[Observation, ...] = (),
    images: tuple[Image, ...] | None = (),
) -> list[Start]:  # fmt: skip
    """The runs of one job, of which the first tells what stands out in the job. told: what else does. images: what
    Kustomize makes of the names of images, None where nobody knows.
    """
    document = job.document
    runtimes = runtimes_of(job, project)
    containers = list(_containers(job, runtimes, maps))
    found = list(_launched(containers, options, project))
    if not found:
        found = tuning_start(document, job, maps, options) or mapped_starts(containers, options)
        found = [_joined(one, containers, options, project) for one in found]
    starts = found[:MOST] or [joined(Start((), READER, f"`kind: {job.kind}`"), options, project)]
    notes = [note for one in containers for note in unread(one.executed)]
    if not found:
        notes += [note for one in containers for note in unseen(one.at, one.place, one.executed, project)]
    held = released(renamed_image(word(one.at, "image"), images) for one in containers) if images is not None else {}
    pins = {**pins_near(document.file, project), **held, **_installed(containers)}
    for each in containers:
        pins |= {name: version for one in each.executed for name, version in installed(one.commands).items()}
    return [
        _with_manifest(
            start._replace(pins={**pins, **start.pins}, notes=(*start.notes, *dict.fromkeys(notes))),
            (job, *runtimes),
            (
                *told,
                *missing_keys(job, maps),
                *unequal(job, runtimes),
                *(one for each in containers for one in lacking(each, project)),
            ),
            first=index == 0,
        )
        for index, start in enumerate(starts)
    ]


def seen(start: Start) -> bool:
    """Whether it is seen what a job trains with, as it must be where nothing else says that it trains."""
    return start.reader.name != READER.name


def with_files(start: Start, documents: Iterable[Document]) -> Start:
    """The start with files that say a part of it and nothing by themselves."""
    nothing = READER._replace(combine=None, observe=(), table=())
    return start._replace(parts=(*start.parts, *(Part("manifest", one, nothing, one) for one in documents)))


def _installed(containers: list[Container]) -> dict[str, str]:
    """The versions that Ray installs before the command runs."""
    given = runtime_env(containers[0].place).get("pip") if containers and containers[0].place.runtime else None
    packages = given.get("packages") if given is not None and given.kind == "mapping" else given
    fixed = [_PINNED.fullmatch(one.raw.strip()) for one in (packages.items if packages is not None else ())]
    return {match[1].lower().replace("_", "-"): match[2] for match in fixed if match is not None}


def _with_manifest(start: Start, objects: tuple[Job, ...], missing: tuple[Observation, ...], *, first: bool) -> Start:
    """The start with the manifest as its weakest part, whose rules hold besides the trainer's. objects: the job, and
    the runtimes that count where it says nothing; missing: what it needs of its maps and does not get.
    """
    alone = start.reader.name == READER.name
    parts = tuple(settled(one._replace(source=source_of(one.source)), _outer(one, objects)) for one in start.parts)
    manifests = tuple(
        Part(
            "manifest", one.document, reader_of(one, flags=alone, observe=first and not index), source_of(one.document)
        )
        for index, one in enumerate(objects)
    )
    manifests = (manifests[0]._replace(observations=missing if first else ()), *manifests[1:])
    reader = start.reader if alone else start.reader._replace(kin=(*start.reader.kin, READER.name))
    return start._replace(parts=(*parts, *manifests), reader=reader, notes=(*start.notes, *encoded(parts)))


def _outer(part: Part, objects: tuple[Job, ...]) -> Document:
    """The manifest in which a part stands, else the job's."""
    return next((one.document for one in objects if one.document.file == part.source.file), objects[0].document)


def _containers(job: Job, runtimes: list[Job], maps: tuple[ConfigMap, ...]) -> Iterator[Container]:
    """The containers of a job with what they run; of a TrainJob those of its runtime, with what it says itself."""
    given = [one for runtime in runtimes for one in inherited(job, runtime)]
    for owner, group, at, lent in given or [(job, group, at, ()) for group, at in job.containers()]:
        for binding in bindings(owner.document, at):
            here = owner.place(group, (*maps, *lent))._replace(parameters=binding)
            own = executed(at, here)
            overrule(owner, own)
            yield Container(owner, group, at, here, (own, *called(at, here)))


def _launched(containers: list[Container], options: Options, project: Project) -> Iterator[Start]:
    """The runs that the containers launch, each once, however many pods launch it alike."""
    seen: set[object] = set()
    for container in containers:
        for one in container.executed:
            for launch in one.launches[:MOST]:
                key = _alike(launch)
                if key not in seen and len(seen) < MOST:
                    seen.add(key)
                    yield from _of_launch(launch, one, container, options, project)
            for program in inline_programs(one.document, one.commands):
                if program.own not in seen and len(seen) < MOST:
                    seen.add(program.own)
                    yield from script_starts(program)


def _alike(launch: Launch) -> object:
    root = launch.flags.root
    flags = tuple((pair.key, _raw(pair.value)) for pair in root.pairs) if root is not None else ()
    script = launch.script.raw if launch.script is not None else ""
    return launch.program, launch.subcommand, script, launch.module, flags, tuple(w.raw for w in launch.positionals)


def _raw(node: object) -> str:
    return getattr(node, "raw", "") or " ".join(one.raw for one in getattr(node, "items", ()))


def _of_launch(
    launch: Launch, one: Executed, container: Container, options: Options, project: Project
) -> Iterator[Start]:
    near = container.place.document.file
    mounts = Mounts(project, container.at, container.place, one, launch.folder)
    around = of_caller(options, mounts)
    for start in of_launch(launch, one.document, options, finder(launch, mounts, near), around, mounts):
        whole = _told(joined(_plain(start), options, mounts), mounts)
        whole = beyond(fitted(whole, container.job, container.at), launch, mounts, container.job)
        yield kept(whole, container.job, container.group, container.at)


def _plain(start: Start) -> Start:
    """A script of which nothing but a launcher speaks is read as before: what every script calls alike, and no more."""
    if start.reader.name != "generic" or not start.reader.guessed:
        return start
    parts = [one._replace(reader=one.reader._replace(table=())) if one.kind == "flags" else one for one in start.parts]
    return start._replace(reader=READER._replace(kin=("generic",)), parts=tuple(parts))


def _joined(start: Start, containers: list[Container], options: Options, project: Project) -> Start:
    """A start that no launch names, with the companions of its config."""
    if not containers:
        return joined(start, options, project)
    first = containers[0]
    mounts = Mounts(project, first.at, first.place, first.executed[0], "")
    return kept(_told(joined(start, options, mounts), mounts), first.job, first.group, first.at)


def _told(start: Start, mounts: Mounts) -> Start:
    """The start with what is to be said of the files that it names."""
    better = {missing(name): note for name, note in mounts.told.items()}
    seen = (note for note in mounts.told.values() if note.kind == "info")
    return start._replace(notes=tuple(dict.fromkeys([*(better.get(note, note) for note in start.notes), *seen])))
