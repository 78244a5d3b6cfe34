"""What a kustomization takes together: manifests of several folders, the ConfigMaps that it makes, what it changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.kustomize import (
    NAMES,
    Generator,
    Image,
    Kustomization,
    inline_objects,
    kustomization,
    variables_of,
)
from loralint.frameworks.readers.kubernetes.maps import ConfigMap, Text, maps_of
from loralint.frameworks.readers.kubernetes.tree import text, value
from loralint.model import Note, Value
from loralint.run.patched import Change, patched_maps
from loralint.run.project import Project
from loralint.source.discover import within
from loralint.source.document import Document
from loralint.source.shown import shown

# Kustomizations that one leads to, and how deep: real ones have a base and a handful of components.
_MOST, _DEEP = 64, 8


class Built(NamedTuple):
    """maps: by the name that stands in the files. own: names of those that the kustomization itself makes or changes.
    renamed: names that become others, by a hash behind them or a prefix -> where that is said. manifests: listed by
    itself; below: by what it leads to. changes: its own; others: of what it leads to, which come first. teaches: names
    may be followed in more kinds than kustomize knows. images: what it makes of names of images; images_below: what the
    others do, which come first.
    """

    document: Document
    maps: dict[str, ConfigMap]
    own: frozenset[str]
    renamed: dict[str, Value]
    manifests: tuple[Document, ...]
    below: tuple[Document, ...]
    changes: tuple[Change, ...]
    others: tuple[Change, ...]
    teaches: bool
    notes: tuple[Note, ...] = ()
    images: tuple[Image, ...] = ()
    images_below: tuple[Image, ...] = ()

    def changes_any(self, changes: Iterable[Change]) -> bool:
        """Whether one of some changes is its own."""
        return any(one in self.changes for one in changes)


class _Names(NamedTuple):
    """The maps so far, by the name that stands in the files, and which of the names become others."""

    maps: dict[str, ConfigMap]
    renamed: dict[str, Value]


@lru_cache(maxsize=2)  # every manifest of a folder asks for it again
def built(document: Document, project: Project) -> Built | None:
    """All that a kustomization takes together; None for a file that is none."""
    return _built(document, project, [], 0, _Names({}, {}))


def _built(document: Document, project: Project, seen: list[str], depth: int, names: _Names) -> Built | None:
    """See `built`. names: those that it lays its own over, which for a component are those of whoever takes it in."""
    found = kustomization(document)
    real = os.path.realpath(document.file)
    if found is None or real in seen or len(seen) >= _MOST or depth > _DEEP:
        return None
    seen.append(real)
    manifests, parts, notes = _resources(found, project, seen, depth)
    for part in parts:
        names.maps.update(part.maps)
        names.renamed.update(part.renamed)
    names.maps.update({one.name: one for manifest in manifests for one in maps_of(manifest)})
    _generate(found, project, names)
    several = [_resource(name, found, project) for name in found.components]
    taken = [made for one in several if one and (made := _built(one, project, seen, depth + 1, names))]
    if found.renames is not None:
        names.renamed.update(dict.fromkeys(names.maps, value(found.document, found.renames)))
    every = (*parts, *taken)
    changes = tuple(_changes(found, project))
    patched, unclear = patched_maps(names.maps, changes)
    names.maps.update(patched)
    return Built(
        document,
        names.maps,
        frozenset([*(text(one.name) for one in found.generators), *patched]).union(*(one.own for one in taken)),
        names.renamed,
        (*manifests, *(one for part in taken for one in part.manifests)),
        (*(one for part in parts for one in part.manifests), *(one for part in every for one in part.below)),
        (*(one for part in taken for one in part.changes), *changes),
        tuple(one for part in parts for one in (*part.others, *part.changes)),
        found.teaches or any(part.teaches for part in every),
        (*notes, *unclear, *(note for part in every for note in part.notes)),
        (*(one for part in taken for one in part.images), *found.images),
        tuple(one for part in parts for one in (*part.images_below, *part.images)),
    )


def _resources(
    found: Kustomization, project: Project, seen: list[str], depth: int
) -> tuple[list[Document], list[Built], list[Note]]:
    """The manifests that it lists, the kustomizations of folders, and what is not at hand."""
    manifests: list[Document] = []
    parts: list[Built] = []
    notes: list[Note] = []
    for name in found.resources:
        one = _resource(name, found, project)
        if one is None:
            notes.append(Note("not-checked", f"what the resource `{shown(name)}` holds: it is not in the folder"))
        elif os.path.basename(one.file) not in NAMES:
            manifests.append(one)
        elif (part := _built(one, project, seen, depth + 1, _Names({}, {}))) is not None:
            parts.append(part)
    return manifests, parts, notes


def _generate(found: Kustomization, project: Project, names: _Names) -> None:
    """Lay the maps of its generators over those that are there."""
    for one in found.generators:
        name = text(one.name)
        made = _made(one, found, project)
        names.maps[name] = _merged(names.maps.get(name), made) if one.behavior == "merge" else made
        if not one.hashed:
            names.renamed.pop(name, None)
        elif one.behavior == "create":  # by the others a name keeps the hash that it has, or has none
            names.renamed[name] = value(found.document, one.name)


def _path(name: str, found: Kustomization, project: Project) -> str:
    """The path of what a kustomization names; empty for what lies elsewhere or outside the root."""
    near = found.document.file
    if not name or "://" in name or os.path.isabs(name) or "\0" in name:
        return ""
    path = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(near)), name))
    return path if os.path.exists(path) and within(path, project.top(near)) else ""


def _resource(name: str, found: Kustomization, project: Project) -> Document | None:
    """A manifest, or the kustomization of a folder."""
    path = _path(name, found, project)
    if os.path.isdir(path):
        path = next((one for each in NAMES if os.path.isfile(one := os.path.join(path, each))), "")
    return project.peek(path, project.name(path, found.document.file)) if path else None


def _read(name: str, found: Kustomization, project: Project) -> Document | None:
    path = _path(name, found, project)
    return project.peek(path, project.name(path, found.document.file)) if os.path.isfile(path) else None


def _made(one: Generator, found: Kustomization, project: Project) -> ConfigMap:
    """The map of a generator; not whole where a file of it is not at hand."""
    texts: dict[str, Text] = {}
    whole = True
    for path in one.envs:
        given = _read(path, found, project)
        texts |= variables_of(given) if given is not None else {}
        whole &= given is not None
    texts |= one.texts
    for key, path in one.files.items():
        given = _read(path, found, project)
        if given is not None:
            texts[key] = Text(given, None)
        whole &= given is not None
    return ConfigMap(text(one.name), "", texts, whole=whole)


def _merged(below: ConfigMap | None, made: ConfigMap) -> ConfigMap:
    """The map with what an overlay lays over it; not whole where nobody sees what it lies over."""
    if below is None:
        return ConfigMap(made.name, "", made.texts, whole=False)
    texts, whole = {**below.texts, **made.texts}, below.whole and made.whole
    return ConfigMap(made.name, below.namespace, texts, below.binary, whole=whole)


def _changes(found: Kustomization, project: Project) -> Iterator[Change]:
    for one in found.patches:
        given = _read(one.path, found, project) if one.path else None
        if given is not None:
            yield Change(f"patch `{shown(one.path)}`", one, tuple(given.roots), given, own=True)
        elif one.path:
            yield Change(f"patch `{shown(one.path)}`", one)
        else:
            objects = tuple(inline_objects(found.document, one))
            yield Change("patch in the kustomization", one, objects, found.document)
    for key in found.opaque:
        yield Change(f"`{key}`", None)


def kustomization_of(document: Document, project: Project) -> Built | None:
    """The nearest kustomization, from its folder upwards, that lists a manifest."""
    real = os.path.realpath(document.file)
    for folder in project.folders(document.file) if os.path.isfile(real) else ():
        path = next((one for each in NAMES if os.path.isfile(one := os.path.join(folder, each))), "")
        found = built(project.peek(path, project.name(path, document.file)), project) if path else None
        if found is not None and real in {os.path.realpath(one.file) for one in found.manifests}:
            return found
    return None
