"""ConfigMaps that a manifest needs and does not hold: those of manifests beside it, and those of the caller."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, Text, maps_of
from loralint.run.project import Project
from loralint.source.discover import within
from loralint.source.document import Document
from loralint.source.limits import BYTES
from loralint.source.read import NotRegularError, open_regular, read_file

_SUFFIXES = (".yaml", ".yml", ".json")
# Manifests beside one that are looked at; a folder with more is no example of a training.
_MOST = 200


def maps_around(document: Document, project: Project, given: Mapping[str, str]) -> tuple[ConfigMap, ...]:
    """The maps at hand besides the file's own, the caller's first."""
    own = {one.name for one in maps_of(document)}
    found = [_given(name, path, project) for name, path in given.items()]
    if "configMap" in document.text or "tuning" in document.text:
        for other in _beside(document, project):
            found += [one for one in maps_of(other) if one.name not in own]
    return tuple(found)


def _given(name: str, path: str, project: Project) -> ConfigMap:
    """A map as `kubectl create configmap NAME --from-file PATH` makes it: a key for each file, of a single file any."""
    if not os.path.isdir(path):
        only = Text(project.document(path, path), None)
        return ConfigMap(name, "", {os.path.basename(path): only}, only=only)
    paths = [os.path.join(path, one) for one in sorted(os.listdir(path))[:_MOST]]
    files = [one for one in paths if os.path.isfile(one)]
    return ConfigMap(name, "", {os.path.basename(one): Text(project.document(one, one), None) for one in files})


def _beside(document: Document, project: Project) -> Iterator[Document]:
    """Manifests of the same folder that hold maps."""
    for path, shown in _manifests(document, project):
        if b"ConfigMap" in _bytes(path):
            yield read_file(path, shown)


def mounted_beside(name: str, document: Document, project: Project) -> bool:
    """Whether another manifest of the folder uses a map of this name."""
    wanted = name.encode()
    for path, _ in _manifests(document, project):
        text = _bytes(path)
        if wanted in text and (b"configMap" in text or b"tuning" in text):
            return True
    return False


def _manifests(document: Document, project: Project) -> Iterator[tuple[str, str]]:
    """(path, name to show) of the other YAML and JSON files of its folder."""
    real = os.path.realpath(document.file)
    folder = os.path.dirname(real)
    try:
        names = sorted(one for one in os.listdir(folder) if one.endswith(_SUFFIXES))[:_MOST]
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if path != real and os.path.isfile(path) and within(path, project.top(document.file)):
            yield path, os.path.join(os.path.dirname(document.file), name)


def _bytes(path: str) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(BYTES)
    except (OSError, NotRegularError):
        return b""
