"""What a pod needs of a ConfigMap and does not get: keys that hold it up, files that are not there when it runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, find_maps, maps_of
from loralint.frameworks.readers.kubernetes.mounting import Absent
from loralint.frameworks.readers.kubernetes.pods import Group, Job
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, open_text, text, value, word
from loralint.model import Observation, Value

_SHOWN = 6  # keys of a map that a message names


def missing_keys(job: Job, maps: tuple[ConfigMap, ...]) -> Iterator[Observation]:
    """Keys without which the kubelet does not start a container. maps: those that are at hand besides the file's."""
    every = (*maps, *maps_of(job.document))
    seen: set[int] = set()  # pods that share an anchor share their volumes
    for group in job.pods:
        containers = (*items(named(group.pod, "initContainers")), *group.containers)
        files = [(held, one) for held in _volumes(group, containers) for one in items(named(held, "items"))]
        wanted = [(held, one, "ContainerCreating") for held, one in files]
        wanted += [(held, held, "CreateContainerConfigError") for held in _variables(containers)]
        for held, one, state in wanted:
            at = named(one, "key")
            if at is not None and id(at.node) not in seen:
                seen.add(id(at.node))
                yield from _told(job, at, _lacking(job, held, text(at), every, files=one is not held), state)


def _lacking(
    job: Job, held: At, key: str, maps: Iterable[ConfigMap], *, files: bool
) -> tuple[ConfigMap, Iterable[str]] | None:
    """The map that must have a key and has it not, with those that it has; None where that is not certain."""
    several = find_maps(maps, word(held, "name"), job.namespace) if text(named(held, "optional")) != "true" else []
    keys = [one.files if files else one.texts for one in several]
    if not several or any(key in one for one in keys) or not all(one.whole for one in several):
        return None
    return several[0], keys[0]


def _volumes(group: Group, containers: Iterable[At]) -> Iterator[At]:
    """The maps of the volumes that a container mounts; of others the kubelet takes no notice."""
    used = {word(one, "name") for each in containers for one in items(named(each, "volumeMounts"))}
    for volume in items(named(group.pod, "volumes")):
        for source in [volume, *items(inside(volume, "projected.sources"))] if word(volume, "name") in used else ():
            held = named(source, "configMap")
            if held is not None:
                yield held


def _variables(containers: Iterable[At]) -> Iterator[At]:
    for each in containers:
        for one in items(named(each, "env")):
            held = inside(one, "valueFrom.configMapKeyRef") if named(one, "value") is None else None
            if held is not None:
                yield held


def _told(job: Job, at: At, lacking: tuple[ConfigMap, Iterable[str]] | None, state: str) -> Iterator[Observation]:
    if lacking is None or not text(at) or open_text(text(at)):
        return
    given, keys = lacking
    near = _near(text(at), keys)
    data = {**_of_map(job, given, text(at), keys), "state": state}
    yield Observation("job-map-key", value(job.document, at), "crash", "", near, "value" if near else "", data=data)


def renamed_maps(job: Job, renamed: Mapping[str, Value]) -> Iterator[Observation]:
    """Maps that a job names as they are written, while kustomize calls them otherwise. renamed: name -> what says."""
    for held in named_maps(job):
        name = named(held, "name")
        if name is not None and text(name) in renamed and text(named(held, "optional")) != "true":
            data = {"map": text(name), "kind": job.kind, "by": renamed[text(name)].key.rpartition(".")[2]}
            where = value(job.document, name)
            yield Observation("job-map-renamed", where, "crash", "", other=renamed[text(name)], data=data)


def named_maps(job: Job) -> Iterator[At]:
    """All places in a job that name a map."""
    for group in job.pods:
        containers = (*items(named(group.pod, "initContainers")), *group.containers)
        yield from _volumes(group, containers)
        yield from _variables(containers)
        for each in containers:
            for one in items(named(each, "envFrom")):
                held = named(one, "configMapRef")
                if held is not None:
                    yield held


def missing_file(job: Job, absent: Absent, path: str, told: Value | None) -> Observation:
    """A file that a command names and that the container does not have. told: where it names the file, if seen."""
    where = told or value(job.document, named(absent.held, "name") or absent.held)
    keys = absent.map.files
    if absent.listed:
        because = "the volume lists the keys that it brings, and this is none of them"
    else:
        because = f"the ConfigMap `{absent.map.name}` has no key `{absent.wanted}`"
    data = {
        **_of_map(job, absent.map, absent.wanted, keys),
        "path": path,
        "because": because,
        "instead": "an empty folder" if absent.folder else "no file",
    }
    return Observation("job-map-file", where, "crash", "", data=data)


def _of_map(job: Job, given: ConfigMap, wanted: str, keys: Iterable[str]) -> dict[str, object]:
    """What messages say of a map; sure: it stands in the manifest itself, so that no other can be meant."""
    names = list(keys)
    near = _near(wanted, names)
    shown = ", ".join(f"`{one}`" for one in names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
    return {
        "map": given.name,
        "wanted": wanted,
        "near": f"write `{near}`" if near else f"name a key that it has ({shown})" if names else "fill it",
        "sure": any(one is given for one in maps_of(job.document)),
    }


def _near(wanted: str, keys: Iterable[str]) -> str:
    return next(iter(difflib.get_close_matches(wanted, list(keys), 1, 0.75)), "")
