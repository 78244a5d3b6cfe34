"""Runs whose config stands in a ConfigMap that no launch names: the image reads it, or KAITO, or nobody is seen to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from loralint.frameworks.detect import COMPANIONS
from loralint.frameworks.readers.kubernetes.maps import ConfigMap, Text, decoded, find_map, maps_of
from loralint.frameworks.readers.kubernetes.mounting import mounted
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, text, word
from loralint.model import Note
from loralint.run.assemble import config_start
from loralint.run.build import Start
from loralint.run.inner import encoded, settled
from loralint.run.maps import mounted_beside
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.encoded import read_encoded
from loralint.source.inner import InnerDocument

if TYPE_CHECKING:
    from loralint.run.manifests import Container

ENDS = (".yaml", ".yml", ".json", ".toml")
# Variables by which an image is told its config: as a path, or as the text itself in base64.
_PATHS = ("SFT_TRAINER_CONFIG_JSON_PATH",)
_TEXTS = ("SFT_TRAINER_CONFIG_JSON_ENV_VAR",)
# Texts of one file that are tried; a map has a handful.
_MOST = 64


def tuning_start(document: Document, job: Job, maps: tuple[ConfigMap, ...], options: Options) -> list[Start]:
    """What KAITO trains: the config in the map that the Workspace names, else its own template."""
    if job.kind != "Workspace":
        return []
    tuning = named(job.spec, "tuning")
    name, method = word(tuning, "config"), word(tuning, "method") or "lora"
    if not name:
        why = f"what KAITO's own `{method}-params-template` says: it comes with the operator"
    else:
        found = find_map((*maps, *maps_of(document)), name, job.namespace)
        given = found.files.get("training_config.yaml") if found is not None else None
        start = config_start(given.read("training_config.yaml"), options) if given is not None else None
        if start is not None:
            return [start]
        why = f"what the ConfigMap `{name}` says: it is not at hand (--configmap {name}=FILE)"
    from loralint.frameworks.readers.kubernetes import READER

    return [Start((), READER, "`tuning`", notes=(Note("not-checked", why),))]


def mapped_starts(containers: list[Container], options: Options) -> list[Start]:
    """The config that an image is told by a variable, or the only one that is mounted."""
    for container in containers:
        for one in _told(container):
            start = config_start(one, options)
            if start is not None:
                return [start]
    found = [start for one in containers for each in _mounted(one) if (start := _config(each, options))]
    return found if len(found) == 1 else []


def _config(document: Document, options: Options) -> Start | None:
    """What a config starts; a file that a trainer's config or launcher names starts nothing."""
    start = config_start(document, options)
    return start if start is not None and start.reader.name not in COMPANIONS else None


def _told(container: Container) -> Iterator[Document]:
    place = container.place
    for variable in items(named(container.at, "env")):
        name, value = word(variable, "name"), named(variable, "value")
        if value is not None and name in _PATHS and text(value).startswith("/"):
            found = mounted(text(value), place.pod, container.at, place.all_maps(), place.namespace)
            if found.text is not None:
                yield found.text.read(found.name)
        elif value is not None and name in _TEXTS:
            yield from _decoded(place.document, value)


def _decoded(document: Document, value: At) -> Iterator[Document]:
    """A text in base64, of which every place is that of the whole."""
    content = decoded(text(value))
    if content is not None:
        yield read_encoded(document, value.node, content, "config.json")


def _mounted(container: Container) -> Iterator[Document]:
    """Every text of the maps that a container mounts whose name is that of a config."""
    place = container.place
    used = {word(one, "name") for one in items(named(container.at, "volumeMounts"))}
    for volume in items(named(place.pod, "volumes")):
        sources = [volume, *items(inside(volume, "projected.sources"))] if word(volume, "name") in used else []
        for source in sources:
            found = find_map(place.all_maps(), word(named(source, "configMap"), "name"), place.namespace)
            for key, one in list(found.files.items())[:_MOST] if found is not None else ():
                if key.endswith(ENDS):
                    yield one.read(key)


def unmounted_starts(
    document: Document, options: Options, project: Project, beside: Iterable[Start] = ()
) -> list[Start]:
    """The configs in maps of a file that no job of its folder is seen to use, each a run of its own."""
    used = {text for one in beside for text in _texts(one, document)}
    found: list[Start] = []
    for one in maps_of(document):
        if any(key.endswith(ENDS) for key in one.files) and not mounted_beside(one.name, document, project):
            alone = [
                _alone(key, given, options) for key, given in list(one.files.items())[:_MOST] if _free(given, used)
            ]
            found += [start for start in alone if start is not None]
    return [_settled(one, document) for one in found]


def _settled(start: Start, document: Document) -> Start:
    parts = tuple(settled(part, document) for part in start.parts)
    return start._replace(parts=parts, notes=(*start.notes, *encoded(parts)))


def _free(given: Text, used: set[int]) -> bool:
    """Whether no run reads a text, given where those start that some run reads."""
    node = given.node
    return node is None or not any(node.start <= start <= node.end for start in used)


def _texts(start: Start, document: Document) -> set[int]:
    """Where the texts inside the file start that a run reads."""
    inner = [part.document for part in start.parts if isinstance(part.document, InnerDocument)]
    return {one.places.pieces[0].start for one in inner if one.file == document.file}


def _alone(key: str, given: Text, options: Options) -> Start | None:
    start = _config(given.read(key), options) if key.endswith(ENDS) else None
    return start._replace(reason=f"`{key}` of a ConfigMap: {start.reason}") if start is not None else None
