"""ConfigMaps and the texts that they hold."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.tree import At, entries, named, text, word
from loralint.source.document import Document, Node
from loralint.source.encoded import read_encoded
from loralint.source.inner import read_inner
from loralint.source.limits import BYTES

_MOST = 500  # keys of a map that are looked at; real ones hold a handful


class Text(NamedTuple):
    """One text of a map. node: the scalar that holds it, None where the whole document is the text. encoded: it stands
    there in base64, as all of `binaryData` does.
    """

    document: Document
    node: Node | None
    encoded: bool = False

    @property
    def content(self) -> str:
        """The text itself; empty for bytes that are none."""
        if self.encoded and self.node is not None:
            return decoded(self.node.raw) or ""
        return self.document.text if self.node is None else self.node.raw

    @property
    def fault(self) -> str:
        """Why nobody can read it, or ""."""
        if not self.encoded or self.node is None or decoded(self.node.raw) is not None:
            return ""
        return "as bytes that are no text" if _bytes(self.node.raw) is not None else "as `binaryData` that is no base64"

    def read(self, name: str) -> Document:
        """The text as the file that it becomes."""
        if self.node is None:
            return self.document
        if self.encoded:
            return read_encoded(self.document, self.node, self.content, name)
        return read_inner(self.document, self.node, name)


def decoded(raw: str) -> str | None:
    """The text that stands in base64, None for bytes of another kind and for what is no base64."""
    given = _bytes(raw)
    try:
        text = given.decode() if given is not None and len(given) <= BYTES else None
    except UnicodeDecodeError:
        return None
    return None if text is None or "\0" in text else text


def _bytes(raw: str) -> bytes | None:
    """What base64 holds; line breaks in it are passed over, as Go does where it reads JSON."""
    try:
        return base64.b64decode(raw.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return None


class ConfigMap:
    """texts: of `data`, by key, which variables may come from. binary: of `binaryData`, which become files only. only:
    what every key leads to, of a map that is said to be made of one file. whole: all of its keys are known.
    """

    __slots__ = ("binary", "name", "namespace", "only", "texts", "whole")

    def __init__(
        self,
        name: str,
        namespace: str,
        texts: Mapping[str, Text],
        binary: Mapping[str, Text] = {},
        only: Text | None = None,
        whole: bool = True,
    ) -> None:
        self.name = name
        self.only = only
        self.namespace = namespace
        self.texts = texts
        self.binary = binary
        self.whole = whole and only is None

    @property
    def files(self) -> dict[str, Text]:
        """What becomes a file where the map is mounted, by key; of a name in both places `data` counts."""
        return {**self.binary, **self.texts}


def map_of(document: Document, at: At) -> ConfigMap | None:
    """An object as a map, None for every other object."""
    if word(at, "kind") != "ConfigMap":
        return None
    meta = named(at, "metadata")
    data, binary = entries(named(at, "data")), entries(named(at, "binaryData"))
    return ConfigMap(
        word(meta, "name"),
        word(meta, "namespace"),
        _texts(document, data, encoded=False),
        _texts(document, binary, encoded=True),
        whole=max(len(data), len(binary)) <= _MOST,
    )


def _texts(document: Document, several: list[At], *, encoded: bool) -> dict[str, Text]:
    return {
        one.label.raw: Text(document, one.node, encoded)
        for one in several[:_MOST]
        if one.label is not None and one.node.kind == "scalar"
    }


@lru_cache(maxsize=4)
def maps_of(document: Document) -> tuple[ConfigMap, ...]:
    """The maps of a file."""
    if "ConfigMap" not in document.text:
        return ()
    from loralint.frameworks.readers.kubernetes.objects import objects

    return tuple(found for at in objects(document) if (found := map_of(document, at)) is not None)


def find_map(maps: Iterable[ConfigMap], name: str, namespace: str = "") -> ConfigMap | None:
    """The map of a name. namespace: of the job, empty where whoever applies it says so."""
    return next(iter(find_maps(maps, name, namespace)), None)


def find_maps(maps: Iterable[ConfigMap], name: str, namespace: str = "") -> list[ConfigMap]:
    """All maps of a name, as a file may hold those of several clusters."""
    several = [one for one in maps if one.name == name]
    return [one for one in several if not namespace or one.namespace in ("", namespace)]


def text_of(held: At | None, maps: Iterable[ConfigMap], namespace: str = "") -> Text | None:
    """What `configMapKeyRef` gives."""
    found = find_map(maps, word(held, "name"), namespace)
    return found.texts.get(text(named(held, "key"))) if found is not None else None
