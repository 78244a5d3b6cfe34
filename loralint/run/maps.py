"""ConfigMaps that a manifest needs and does not hold: those of manifests beside it, and those of the caller."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, Text, maps_of
from loralint.run.project import Manifest, Project
from loralint.source.discover import within
from loralint.source.document import Document
from loralint.source.limits import BYTES
from loralint.source.read import NotRegularError, open_regular

_SUFFIXES = (".yaml", ".yml", ".json")
# Manifests beside one that are looked at; a folder with more is no example of a training.
_MOST = 200
_LENDING = ("ConfigMap", "TrainingRuntime", "WorkflowTemplate", "emplateRef")
# The name of a map that is mounted, or a source of variables, or KAITO's config.
_WANTED = re.compile(
    r"""(?:onfigMap(?:Ref|KeyRef)?["']?:[^#]{0,300}?\bname|\n[ \t]*["']?config)["']?:[ \t]*["']?([A-Za-z0-9][\w.-]*)"""
)
_NAME = re.compile(r"""["']?(?:name|config)["']?:[ \t]*["']?([A-Za-z0-9][\w.-]*)""")


def maps_around(document: Document, project: Project, given: Mapping[str, str]) -> tuple[ConfigMap, ...]:
    """The maps at hand besides the file's own, the caller's first."""
    own = {one.name for one in maps_of(document)}
    found = [*project.maps, *(_given(name, path, project) for name, path in given.items())]
    wanted = frozenset(_WANTED.findall(document.text)) - own - given.keys()
    for one in beside(document, project) if wanted else ():
        if one.maps and not wanted.isdisjoint(one.names):
            found += [each for each in maps_of(project.peek(one.path, one.shown)) if each.name in wanted]
    return tuple(found)


def _given(name: str, path: str, project: Project) -> ConfigMap:
    """A map as `kubectl create configmap NAME --from-file PATH` makes it: a key for each file, of a single file any."""
    if not os.path.isdir(path):
        only = Text(project.document(path, path), None)
        return ConfigMap(name, "", {os.path.basename(path): only}, only=only)
    paths = [os.path.join(path, one) for one in sorted(os.listdir(path))[:_MOST]]
    files = [one for one in paths if os.path.isfile(one)]
    return ConfigMap(name, "", {os.path.basename(one): Text(project.document(one, one), None) for one in files})


def mounted_beside(name: str, document: Document, project: Project) -> bool:
    """Whether another manifest of the folder uses a map of this name."""
    return any(one.uses and name in one.names for one in beside(document, project))


def beside(document: Document, project: Project) -> Iterator[Manifest]:
    """The other manifests of its folder that may lend something, which is looked through once."""
    real = os.path.realpath(document.file)
    folder = os.path.dirname(real)
    found = project.manifests.get(folder)
    if found is None:
        found = project.manifests[folder] = list(_manifests(folder, os.path.dirname(document.file), project))
    return (one for one in found if one.path != real)


def _manifests(folder: str, shown: str, project: Project) -> Iterator[Manifest]:
    try:
        names = sorted(one for one in os.listdir(folder) if one.endswith(_SUFFIXES))[:_MOST]
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        text = _text(path) if os.path.isfile(path) and within(path, project.top(path)) else ""
        uses = "configMap" in text or "tuning" in text
        if uses or any(kind in text for kind in _LENDING):
            yield Manifest(path, os.path.join(shown, name), _names(text), "ConfigMap" in text, uses)


def _names(text: str) -> frozenset[str]:
    """All that stands behind `name:`, or behind KAITO's `config:`."""
    return frozenset(_NAME.findall(text))


def _text(path: str) -> str:
    try:
        with open_regular(path) as file:
            return file.read(BYTES).decode("utf-8", "replace")
    except (OSError, NotRegularError):
        return ""
