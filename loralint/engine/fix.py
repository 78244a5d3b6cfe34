"""What a rule's `fix` means as edits of this file: set, remove and rename, by span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from loralint.checks.hit import Hit
from loralint.knowledge.rules import Rule, wording
from loralint.model import Edit, Fix, Observation, Unknown, Value
from loralint.run.config import Config
from loralint.source.document import Document, Node, Pair
from loralint.source.edit import insert_pair, remove_pair, scalar_text, set_value


def fix_of(rule: Rule, hit: Hit, config: Config, *, pinned: bool) -> Fix | None:
    """The edits, or None when this hit cannot be fixed by machine (no suggestion, no key, another file's value).

    pinned: no version was assumed; what is right for an assumed one may be wrong for the one in use, so it is not safe.
    """
    fix = wording(rule).fix
    if fix is None:
        return None
    try:
        edits = tuple(_edits(fix, hit, config))
    except (_NoFixError, ValueError):  # ValueError: the place is written in a way that cannot be edited by span
        return None
    if not edits or not _disjoint(edits):
        return None
    wants = {field: _wanted(raw, hit) for field, raw in fix.get("set", {}).items()}
    return Fix(pinned and bool(fix.get("safe")), edits, wants)


def _wanted(raw: object, hit: Hit) -> object:
    return hit.suggest if raw == "{suggest}" else raw


def _disjoint(edits: tuple[Edit, ...]) -> bool:
    """Two keys that leave one list in brackets may both claim the comma between them."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    return all(one.end <= other.start for one, other in pairwise(ordered))


class _NoFixError(Exception):
    """One part cannot be done, so nothing is."""


def _edits(fix: Mapping[str, Any], hit: Hit, config: Config) -> Iterator[Edit]:
    if hit.observation is not None and fix.get("rewrite"):
        yield from _rewrite(hit.observation, _teller(hit.observation, hit, config))
    gone = {value.key: value for field in fix.get("remove", ()) for value in _written(field, config)}
    for field, raw in fix.get("set", {}).items():
        yield from _set(field, _wanted(raw, hit), hit, config, list(gone))
    for key, value in gone.items():
        yield from _remove(config.holder(value.span), key)


def _teller(observation: Observation, hit: Hit, config: Config) -> Document:
    """The part that the observation was made in, else the innermost around its place."""
    told = (layer.document for layer in config.layers if any(one is observation for one in layer.observations))
    return next(told, None) or config.holder(observation.value.key_span or hit.at.span)


def _written(field: str, config: Config) -> list[Value]:
    value = config.get(field)
    return [one for one in (value, *value.shadowed) if one.span is not None]


def _set(field: str, value: object, hit: Hit, config: Config, gone: list[str]) -> Iterator[Edit]:
    present, document = config.get(field), config.home(field).document
    if present.span is not None and present.value == value and type(present.value) is type(value):
        return  # it stands there already; a fix of nothing but this is none
    target = config.write(field, value) if value is not None and not isinstance(value, Unknown) else None
    if target is None or document.root is None:
        raise _NoFixError
    key, out = target
    found = locate(document.root, key)
    written = [one.key for one in _written(field, config) if one.span and one.span.file == document.file]
    others = [other for other in written if other not in (key, *gone) and other.split("[")[0] != key]
    for other in others:
        yield from _remove(document, other)
    if found is not None:
        yield set_value(document, found[1].value, scalar_text(out, document.format))
    else:
        yield _insert(document, key, out, hit, [*gone, *others])


def _insert(document: Document, key: str, out: object, hit: Hit, gone: list[str]) -> Edit:
    """Add a pair behind the hit's own, or behind the nearest that stays when that one goes."""
    parent, _, name = key.rpartition(".")
    outer = locate(document.root, parent) if parent and document.root else None
    mapping = document.root if not parent else outer[1].value if outer else None
    if mapping is None or mapping.kind != "mapping" or not mapping.pairs:
        raise _NoFixError
    stay = [pair for pair in mapping.pairs if not pair.merged and (parent or pair.key not in gone)]
    if not stay:
        raise _NoFixError
    head = hit.at.key.split("[")[0]
    beside = locate(mapping, head) if not parent and hit.at.span is not None else None
    near = beside[1].key_node.start if beside is not None and beside[0] is mapping else None
    before = [pair for pair in stay if near is not None and pair.key_node.start <= near]
    return insert_pair(document, (before or stay)[-1], name, scalar_text(out, document.format))


def _remove(document: Document, key: str) -> Iterator[Edit]:
    """Every line of a key, since of one that is written twice the other would count next."""
    found = locate(document.root, key) if document.root else None
    if found is None:
        raise _NoFixError
    mapping, last = found
    for pair in mapping.pairs:
        if pair.key == last.key:
            yield remove_pair(document, mapping, pair)


def _rewrite(observation: Observation, document: Document) -> Iterator[Edit]:
    value, new = observation.value, observation.replacement
    if document.sealed:
        raise _NoFixError
    here = value.key_span is not None and value.key_span.file == document.file
    found = _at(document.root, value.key_span.start) if document.root and value.key_span and here else None
    if observation.rewrite == "key" and new and found is not None:
        yield _rename(observation, document, *found)
    elif observation.rewrite == "value" and new and value.span is not None and value.span.file == document.file:
        empty = value.span.start == value.span.end  # nothing but the colon's place
        yield Edit(document.file, value.span.start, value.span.end, f" {new}" if empty else new)
    elif observation.rewrite == "remove" and found is not None:
        mapping, pair = found
        gone = [pair] if observation.kind == "duplicate" else [one for one in mapping.pairs if one.key == pair.key]
        yield from (remove_pair(document, mapping, one) for one in gone)
    else:
        raise _NoFixError


def _rename(observation: Observation, document: Document, mapping: Node, pair: Pair) -> Edit:
    """Another name in the same mapping, where that name is still free."""
    parent, _, name = observation.replacement.rpartition(".")
    if (parent and parent != observation.value.key.rpartition(".")[0]) or mapping.pair(name) is not None:
        raise _NoFixError
    start, end = pair.key_node.start, pair.key_node.end
    written = document.text[start:end]
    if document.format == "flags":
        name = written[: len(written) - len(written.lstrip("-"))] + name
    return Edit(document.file, start, end, scalar_text(name, "json") if written[0] in "\"'" else name)


def locate(root: Node | None, dotted: str) -> tuple[Node, Pair] | None:
    """The mapping and pair at a dotted key; of list indexes only a first item's is followed."""
    if root is None or root.kind != "mapping":
        return None
    pair = root.pair(dotted)
    if pair is not None:
        return root, pair
    head, dot, rest = dotted.partition(".")
    outer = root.pair(head.removesuffix("[0]")) if dot else None
    if outer is None:
        return None
    return locate(outer.value.items[0] if head.endswith("[0]") and outer.value.items else outer.value, rest)


def _at(node: Node, start: int) -> tuple[Node, Pair] | None:
    """The pair whose key starts at an offset."""
    for pair in node.pairs if node.kind == "mapping" else ():
        if pair.key_node.start == start:
            return node, pair
        inner = _at(pair.value, start)
        if inner is not None:
            return inner
    for item in node.items if node.kind == "sequence" else ():
        inner = _at(item, start)
        if inner is not None:
            return inner
    return None
