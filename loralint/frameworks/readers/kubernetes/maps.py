"""ConfigMaps: which texts they hold, and which file of a container each becomes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, text, word
from loralint.source.document import Document, Node
from loralint.source.inner import read_inner

_MOST = 500  # keys of a map that are looked at; real ones hold a handful


class Text(NamedTuple):
    """One text of a map. node: the scalar that holds it, None where the whole document is the text."""

    document: Document
    node: Node | None

    @property
    def content(self) -> str:
        """The text itself."""
        return self.document.text if self.node is None else self.node.raw

    def read(self, name: str) -> Document:
        """The text as the file that it becomes."""
        return self.document if self.node is None else read_inner(self.document, self.node, name)


class ConfigMap:
    """texts: by key. binary: keys whose values are bytes in base64, which nobody looks into. only: what every key leads
    to, of a map that is said to be made of one file.
    """

    __slots__ = ("binary", "name", "namespace", "only", "texts")

    def __init__(
        self,
        name: str,
        namespace: str,
        texts: Mapping[str, Text],
        binary: frozenset[str] = frozenset(),
        only: Text | None = None,
    ) -> None:
        self.name = name
        self.only = only
        self.namespace = namespace
        self.texts = texts
        self.binary = binary


class Mounted(NamedTuple):
    """What a path of a container leads to: a text of a map, or why nobody can see it. image: nothing is mounted there,
    so it can only come with the image.
    """

    text: Text | None
    why: str = ""
    image: bool = False
    name: str = ""


def map_of(document: Document, at: At) -> ConfigMap | None:
    """An object as a map, None for every other object."""
    if word(at, "kind") != "ConfigMap":
        return None
    meta = named(at, "metadata")
    texts = {
        one.label.raw: Text(document, one.node)
        for one in entries(named(at, "data"))[:_MOST]
        if one.label is not None and one.node.kind == "scalar"
    }
    binary = frozenset(one.label.raw for one in entries(named(at, "binaryData"))[:_MOST] if one.label is not None)
    return ConfigMap(word(meta, "name"), word(meta, "namespace"), texts, binary)


@lru_cache(maxsize=4)
def maps_of(document: Document) -> tuple[ConfigMap, ...]:
    """The maps of a file."""
    if "ConfigMap" not in document.text:
        return ()
    from loralint.frameworks.readers.kubernetes.objects import objects

    return tuple(found for at in objects(document) if (found := map_of(document, at)) is not None)


def find_map(maps: Iterable[ConfigMap], name: str, namespace: str = "") -> ConfigMap | None:
    """The map of a name; Kustomize may have put a hash behind the name of its object."""
    several = [one for one in maps if not namespace or one.namespace in ("", namespace)]
    return next((one for one in several if one.name == name), None)


def mounted(path: str, pod: At | None, container: At, maps: tuple[ConfigMap, ...], namespace: str = "") -> Mounted:
    """What an absolute path of a container leads to. maps: all that are at hand."""
    path = posixpath.normpath(path)
    best = max(_covering(path, container), key=lambda one: len(one[0]), default=None)
    if best is None:
        return Mounted(None, "it lies in the image", image=True)
    folder, mount = best
    name = word(mount, "name")
    volume = next((one for one in items(named(pod, "volumes")) if word(one, "name") == name), None)
    if volume is None:
        return Mounted(None, f"the volume `{name}` is described elsewhere")
    below = posixpath.join(word(mount, "subPath"), posixpath.relpath(path, folder) if path != folder else "")
    return _in_volume(below.strip("/"), volume, maps, namespace)


def _covering(path: str, container: At) -> Iterator[tuple[str, At]]:
    """Mounts on a folder above a path, or on the path itself."""
    for one in items(named(container, "volumeMounts")):
        folder = posixpath.normpath(word(one, "mountPath") or "/nowhere")
        if folder in (path, "/") or path.startswith(folder + "/"):
            yield folder, one


def _in_volume(below: str, volume: At, maps: tuple[ConfigMap, ...], namespace: str) -> Mounted:
    sources = [volume, *items(inside(volume, "projected.sources"))]
    for source in sources:
        held = named(source, "configMap")
        if held is None:
            continue
        found = _in_map(below, held, maps, namespace)
        if found is not None:
            return found
    kind = next((one.label.raw for one in entries(volume) if one.label is not None and one.label.raw != "name"), "")
    told = {"secret": "a Secret", "emptyDir": "an emptyDir, which starts empty", "projected": "a projected volume"}
    return Mounted(None, f"it lies in {told.get(kind, f'a volume ({kind})')}")


def _in_map(below: str, held: At, maps: tuple[ConfigMap, ...], namespace: str) -> Mounted | None:
    """The key that becomes a path, which `items` may rename; None where this map has no such file."""
    name = word(held, "name")
    key = below
    listed = items(named(held, "items"))
    if listed:
        renamed = next((one for one in listed if word(one, "path").strip("/") == below), None)
        if renamed is None:
            return None
        key = word(renamed, "key")
    found = find_map(maps, name, namespace)
    if found is None:
        return Mounted(None, f"it lies in the ConfigMap `{name}`, which is not at hand (--configmap {name}=FILE)")
    if key in found.binary:
        return Mounted(None, f"it lies in the ConfigMap `{name}` as bytes")
    given = found.texts.get(key, found.only)
    if given is None:
        return Mounted(None, f"the ConfigMap `{name}` has no `{key}`")
    return Mounted(given, name=key)


def text_of(held: At | None, maps: Iterable[ConfigMap], namespace: str = "") -> Text | None:
    """What `configMapKeyRef` gives."""
    found = find_map(maps, word(held, "name"), namespace)
    return found.texts.get(text(named(held, "key"))) if found is not None else None
