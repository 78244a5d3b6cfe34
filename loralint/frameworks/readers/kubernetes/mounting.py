"""Which file of a container each text of a ConfigMap becomes, and what the kubelet does where a key is not there."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, Text, find_maps
from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, word


class Absent(NamedTuple):
    """A file that a map was to bring and does not. wanted: the key; folder: an empty folder stands in its place, as
    the kubelet makes one for a subPath; listed: the volume lists what it brings, and this is not among it.
    """

    map: ConfigMap
    wanted: str
    held: At
    folder: bool = False
    listed: bool = False


class Mounted(NamedTuple):
    """What a path of a container leads to: a text of a map, or why nobody can see it. image: nothing is mounted there,
    so it can only come with the image. absent: that nothing is there.
    """

    text: Text | None
    why: str = ""
    image: bool = False
    name: str = ""
    absent: Absent | None = None


def mounted(path: str, pod: At | None, container: At, maps: tuple[ConfigMap, ...], namespace: str = "") -> Mounted:
    """What an absolute path of a container leads to. maps: all that are at hand."""
    path = posixpath.normpath(path)
    best = max(_covering(path, container), key=lambda one: len(one[0]), default=None)
    if best is None:
        return Mounted(None, "it lies in the image", image=True)
    folder, mount = best
    name, part = word(mount, "name"), word(mount, "subPath")
    volume = next((one for one in items(named(pod, "volumes")) if word(one, "name") == name), None)
    if volume is None:
        return Mounted(None, f"the volume `{name}` is described elsewhere")
    below = posixpath.join(part, posixpath.relpath(path, folder) if path != folder else "")
    return _in_volume(below.strip("/"), volume, maps, namespace, part=bool(part))


def _covering(path: str, container: At) -> Iterator[tuple[str, At]]:
    """Mounts on a folder above a path, or on the path itself."""
    for one in items(named(container, "volumeMounts")):
        folder = posixpath.normpath(word(one, "mountPath") or "/nowhere")
        if folder in (path, "/") or path.startswith(folder + "/"):
            yield folder, one


def _in_volume(below: str, volume: At, maps: tuple[ConfigMap, ...], namespace: str, *, part: bool) -> Mounted:
    """The file that one of the volume's sources brings; that none does is known only where all of them are."""
    projected = items(inside(volume, "projected.sources"))
    held = [named(one, "configMap") for one in projected or [volume]]
    found = [_in_map(below, one, maps, namespace) for one in held if one is not None]
    seen = next((one for one in found if one.text is not None), None) or next(
        (one for one in found if one.absent is None), None
    )
    if seen is not None:
        return seen
    if found and len(found) == len(held):
        last = found[-1]
        return last._replace(absent=last.absent._replace(folder=part) if last.absent is not None else None)
    kind = next((one.label.raw for one in entries(volume) if one.label is not None and one.label.raw != "name"), "")
    told = {"secret": "a Secret", "emptyDir": "an emptyDir, which starts empty", "projected": "a projected volume"}
    return Mounted(None, f"it lies in {told.get(kind, f'a volume ({kind})')}")


def _in_map(below: str, held: At, maps: tuple[ConfigMap, ...], namespace: str) -> Mounted:
    """The key that becomes a path, which `items` may rename."""
    name, key = word(held, "name"), below
    several = find_maps(maps, name, namespace)
    found = next(iter(several), None)
    listed = named(held, "items")
    if listed is not None and items(listed):
        renamed = next((one for one in items(listed) if word(one, "path").strip("/") == below), None)
        if renamed is None and found is not None:
            why = f"the volume's `items` bring no `{below}`"
            return Mounted(None, why, absent=Absent(found, below, held, listed=True))
        key = word(renamed, "key")
    if found is None:
        return Mounted(None, f"it lies in the ConfigMap `{name}`, which is not at hand (--configmap {name}=FILE)")
    found = next((one for one in several if key in one.files), found)
    given = found.files.get(key, found.only)
    if given is None:
        why = f"the ConfigMap `{name}` has no `{key}`"
        lacking = all(one.whole and key not in one.files for one in several)
        return Mounted(None, why, absent=Absent(found, key, held) if lacking else None)
    if given.fault:
        return Mounted(None, f"it lies in the ConfigMap `{name}` {given.fault}")
    return Mounted(given, name=key)
