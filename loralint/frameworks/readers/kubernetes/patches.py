"""Patches of a kustomization: which objects they mean, and what these become."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, Text
from loralint.frameworks.readers.kubernetes.patched import KNOWN, UnclearError, edited, merged
from loralint.frameworks.readers.kubernetes.tree import At, named, text, top, word
from loralint.source.document import Document, Node

_PLAIN = re.compile(r"[\w./-]*")
# Settings whose change says nothing of the training.
_HARMLESS = frozenset({"suspend", "ttlSecondsAfterFinished"})
_HARMLESS_PATHS = ("/metadata/", "/spec/suspend", "/spec/ttlSecondsAfterFinished")


class Patch(NamedTuple):
    """A change of objects. path: the file that says it, or inline: where it stands itself; target: which objects."""

    path: str
    inline: At | None
    target: At | None


class Said(NamedTuple):
    """What a patch knows an object by. group: of its API."""

    kind: str
    name: str
    group: str = ""


def changed_by(patch: Patch, objects: Iterable[Node], said: Said) -> bool:
    """Whether a patch changes what an object trains, as far as one can see. objects: what the patch holds."""
    several = list(objects)
    if patch.target is not None:
        return _selected(patch.target, said) and not (several and all(map(_harmless, several)))
    named_so = [one for one in several if _same(one, said)]
    return not several or any(not _harmless(one) for one in named_so)


def laid_over(patch: Patch, objects: Iterable[Node], below: Node, said: Said) -> Node:
    """An object as a patch leaves it. objects: what the patch holds. Raises UnclearError where only building tells."""
    for one in _meaning(patch, objects, said):
        if one.kind == "sequence" and patch.target is not None:
            below = edited(below, one)
        elif one.kind == "mapping":
            below = merged(below, one if patch.target is None else _nameless(one), said.group)
        else:
            raise UnclearError
    return below


def texts_over(patch: Patch, objects: Iterable[Node], document: Document, below: ConfigMap) -> ConfigMap:
    """A map as a patch leaves it; its new texts are the patch's. Raises UnclearError where only building tells."""
    texts, binary = dict(below.texts), dict(below.binary)
    for one in _meaning(patch, objects, Said("ConfigMap", below.name)):
        for held, name, encoded in ((texts, "data", False), (binary, "binaryData", True)):
            if one.kind == "scalar" or one.get("$patch") is not None:
                raise UnclearError
            for key, node in _operations(one, name) if one.kind == "sequence" else _inside(one, name):
                held.pop(key, None)
                if node is not None and node.tag != "null":
                    held[key] = Text(document, node, encoded)
    return ConfigMap(below.name, below.namespace, texts, binary, whole=below.whole)


def _inside(one: Node, name: str) -> Iterator[tuple[str, Node | None]]:
    held = one.get(name)
    if held is not None:
        yield from ((pair.key, pair.value) for pair in held.pairs)


def _operations(operations: Node, name: str) -> Iterator[tuple[str, Node | None]]:
    """What a JSON patch does to the keys of a map."""
    for one in operations.items:
        kind, path = word(top(one), "op"), word(top(one), "path")
        value = one.get("value") if one.kind == "mapping" else None
        if kind not in ("add", "replace", "remove", "test") or path in ("/data", "/binaryData"):
            raise UnclearError
        if path.startswith(f"/{name}/") and kind != "test":
            yield path.split("/", 2)[2].replace("~1", "/").replace("~0", "~"), value


def _meaning(patch: Patch, objects: Iterable[Node], said: Said) -> list[Node]:
    """What of a patch means an object."""
    several = list(objects)
    if not several or (patch.target is not None and not _is_certain(patch.target)):
        raise UnclearError
    return several if patch.target is not None else [one for one in several if _same(one, said)]


def knows_lists(said: Said) -> bool:
    """Whether Kustomize knows by itself how lists of such an object are laid over one another."""
    return said.group in KNOWN


def _nameless(one: Node) -> Node:
    """What a patch with a target lays over objects of any name."""
    made = Node("mapping", "map", one.start_mark, one.end_mark)
    made.refill([pair for pair in one.pairs if pair.key not in ("apiVersion", "kind", "metadata")])
    return made


def _is_certain(target: At) -> bool:
    """Whether it is plain which objects a target means."""
    if any(named(target, key) is not None for key in ("labelSelector", "annotationSelector", "namespace")):
        return False
    return all(_PLAIN.fullmatch(word(target, key)) or word(target, key) == ".*" for key in ("kind", "name", "group"))


def _selected(target: At, said: Said) -> bool:
    """Whether a target means an object; kind and name are expressions for the whole of it, labels taken for given."""
    return all(
        _fits(word(target, key), one) for key, one in (("kind", said.kind), ("name", said.name), ("group", said.group))
    )


def _fits(expression: str, said: str) -> bool:
    """Whether a target's word fits; one that is more than a name is taken to fit."""
    return not expression or expression == said or _PLAIN.fullmatch(expression) is None


def _same(one: Node, said: Said) -> bool:
    at = top(one)
    name = word(named(at, "metadata"), "name")
    return one.kind != "mapping" or (word(at, "kind") == said.kind and name in (said.name, ""))


def _harmless(one: Node) -> bool:
    """Whether a patch leaves alone all that the training rests on."""
    if one.kind == "sequence":
        return all(text(named(At(op, "", ""), "path")).startswith(_HARMLESS_PATHS) for op in one.items)
    spec = one.get("spec")
    rest = {pair.key for pair in one.pairs} - {"apiVersion", "kind", "metadata", "spec"}
    inner = {pair.key for pair in spec.pairs} if spec is not None and spec.kind == "mapping" else set()
    return not rest and inner <= _HARMLESS and word(named(top(one), "metadata"), "name") != ""
