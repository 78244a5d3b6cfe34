"""Objects as a patch of Kustomize leaves them: strategic merges and JSON patches (RFC 6902).

As kubernetes-sigs/kustomize@04e51ad has it (kyaml/yaml/merge2, api/filters/patchjson6902). Nodes keep their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.tree import named, text, top, word
from loralint.source.document import Node, Pair

# Groups of which Kustomize knows the schema; in objects of any other it replaces lists whole.
KNOWN = frozenset({"", "batch", "apps"})
# By what items of these lists are the same; every other list is replaced.
_MERGED_BY = {
    "containers": "name", "initContainers": "name", "ephemeralContainers": "name", "env": "name", "volumes": "name",
    "imagePullSecrets": "name", "volumeMounts": "mountPath", "volumeDevices": "devicePath", "ports": "containerPort",
    "hostAliases": "ip", "topologySpreadConstraints": "topologyKey",
}  # fmt: skip


class UnclearError(Exception):
    """What only Kustomize itself could tell."""


def merged(below: Node, over: Node, group: str) -> Node:
    """An object with a patch that looks like a part of it laid over. group: the API's, empty for the core's."""
    made = _merged(below, over, group in KNOWN)
    if made is None:
        raise UnclearError
    return made


def _merged(below: Node, over: Node, known: bool) -> Node | None:
    """None where the patch says that nothing is to be left."""
    if over.kind != "mapping":
        return over
    directive = over.get("$patch")
    if directive is not None and directive.raw == "delete":
        return None
    if directive is not None and directive.raw == "replace":
        return _filled(over, [pair for pair in over.pairs if pair.key != "$patch"])
    if any(pair.key.startswith("$") and pair.key != "$patch" for pair in over.pairs):
        raise UnclearError
    return _filled(below, _pairs(below if below.kind == "mapping" else _filled(over, []), over, known))


def _filled(like: Node, pairs: list[Pair]) -> Node:
    made = Node("mapping", "map", like.start_mark, like.end_mark)
    made.refill(pairs)
    return made


def _pairs(below: Node, over: Node, known: bool) -> list[Pair]:
    pairs = {pair.key: pair for pair in below.pairs}
    for pair in over.pairs:
        old = pairs.pop(pair.key, None) if pair.value.tag == "null" else pairs.get(pair.key)
        if pair.value.tag == "null" or pair.key == "$patch":
            continue
        value = _laid(pair, old, known)
        if value is None:
            pairs.pop(pair.key, None)
        elif old is None:
            pairs[pair.key] = pair._replace(value=value)
        else:
            pairs[pair.key] = (old if value.kind != "scalar" else pair)._replace(value=value)
    return list(pairs.values())


def _laid(pair: Pair, old: Pair | None, known: bool) -> Node | None:
    over, key = pair.value, _MERGED_BY.get(pair.key) if known else None
    if over.kind == "mapping":
        return _merged(old.value if old is not None else _filled(over, []), over, known)
    if over.kind == "sequence" and key and old is not None and old.value.kind == "sequence":
        return _items(old.value, over, key, known)
    if over.kind == "sequence" and any(one.kind == "mapping" and one.get("$patch") is not None for one in over.items):
        raise UnclearError
    return over


def _items(below: Node, over: Node, key: str, known: bool) -> Node:
    """New items come first, as Kustomize puts them."""
    several = {_name(one, key): one for one in below.items}
    new: list[Node] = []
    for one in over.items:
        name = _name(one, key)
        if not name or (one.get("$patch") is not None and name not in several):
            raise UnclearError
        made = _merged(several[name], one, known) if name in several else one
        if made is None:
            del several[name]
        elif name in several:
            several[name] = made
        else:
            new.append(made)
    return _list(below, [*new, *several.values()])


def _list(like: Node, items: Sequence[Node]) -> Node:
    made = Node("sequence", "seq", like.start_mark, like.end_mark)
    made.items = items
    return made


def _name(one: Node, key: str) -> str:
    return word(top(one), key) if one.kind == "mapping" else ""


class _Operation(NamedTuple):
    """kind: add, replace or remove. label: where the path stands, which names what is added."""

    kind: str
    label: Node
    value: Node | None


def edited(below: Node, operations: Node) -> Node:
    """An object after the operations of a JSON patch."""
    for one in operations.items:
        kind, path, value = word(top(one), "op"), named(top(one), "path"), named(top(one), "value")
        if kind not in ("add", "replace", "remove", "test") or path is None or not text(path).startswith("/"):
            raise UnclearError
        if kind != "test":
            if (value is None) != (kind == "remove"):
                raise UnclearError
            steps = [step.replace("~1", "/").replace("~0", "~") for step in text(path)[1:].split("/")]
            below = _edited(below, steps, _Operation(kind, path.node, value.node if value is not None else None))
    return below


def _edited(node: Node, steps: list[str], operation: _Operation) -> Node:
    first, *rest = steps
    if node.kind == "mapping":
        return _filled(node, _in_mapping(node, first, rest, operation))
    return _list(node, _in_list(node, first, rest, operation))


def _in_mapping(node: Node, first: str, rest: list[str], operation: _Operation) -> list[Pair]:
    pairs = {pair.key: pair for pair in node.pairs}
    old = pairs.get(first)
    if old is None and (rest or operation.kind != "add"):
        raise UnclearError
    if rest and old is not None:
        pairs[first] = old._replace(value=_edited(old.value, rest, operation))
    elif operation.value is None:
        del pairs[first]
    else:
        label = old.key_node if old is not None else _called(first, operation.label)
        pairs[first] = Pair(first, label, operation.value)
    return list(pairs.values())


def _called(name: str, path: Node) -> Node:
    """A key that stands nowhere but at the end of a path."""
    return Node("scalar", "str", path.start_mark, path.end_mark, name)


def _in_list(node: Node, first: str, rest: list[str], operation: _Operation) -> list[Node]:
    several = list(node.items) if node.kind == "sequence" else []
    adds = not rest and operation.kind == "add"
    index = len(several) if first == "-" and adds else int(first) if first.isascii() and first.isdigit() else -1
    if not 0 <= index < len(several) + adds:
        raise UnclearError
    if rest:
        several[index] = _edited(several[index], rest, operation)
    elif operation.value is None:
        del several[index]
    else:
        several[index : index + (not adds)] = [operation.value]
    return several
