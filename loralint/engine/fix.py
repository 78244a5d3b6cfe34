"""What a rule's `fix` means as edits of this file: set, remove and rename, by span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.engine.rules import Rule
from loralint.model import Edit, Fix, Observation, Value
from loralint.run.config import Config
from loralint.source.document import Document, Node, Pair
from loralint.source.edit import insert_pair, remove_pair, scalar_text, set_value


def fix_of(rule: Rule, hit: Hit, config: Config, *, pinned: bool) -> Fix | None:
    """The edits, or None when this hit cannot be fixed by machine (no suggestion, no key, another file's value).

    pinned: no version was assumed; what is right for an assumed one may be wrong for the one in use, so it is not safe.
    """
    if rule.fix is None:
        return None
    document = config.layers[0].document
    try:
        edits = tuple(_edits(rule.fix, hit, config, document))
    except (_NoFixError, ValueError):  # ValueError: the place is written in a way that cannot be edited by span
        return None
    return Fix(pinned and bool(rule.fix.get("safe")), edits) if edits else None


class _NoFixError(Exception):
    """One part cannot be done, so nothing is."""


def _edits(fix: Mapping[str, Any], hit: Hit, config: Config, document: Document) -> Iterator[Edit]:
    if hit.observation is not None and fix.get("rewrite"):
        yield _rewrite(hit.observation, document)
    gone = list(dict.fromkeys(value.key for field in fix.get("remove", ()) for value in _written(field, config)))
    for field, raw in fix.get("set", {}).items():
        yield from _set(field, hit.suggest if raw == "{suggest}" else raw, hit, config, document, gone)
    for key in gone:
        yield _remove(document, key)


def _written(field: str, config: Config) -> list[Value]:
    value = config.get(field)
    return [one for one in (value, *value.shadowed) if one.span is not None]


def _set(field: str, value: object, hit: Hit, config: Config, document: Document, gone: list[str]) -> Iterator[Edit]:
    target = config.write(field, value) if value is not None else None
    if target is None or document.root is None:
        raise _NoFixError
    key, out = target
    found = locate(document.root, key)
    written = [other.key for other in _written(field, config)]
    others = [other for other in written if other not in (key, *gone) and other.split("[")[0] != key]
    for other in others:
        yield _remove(document, other)
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


def _remove(document: Document, key: str) -> Edit:
    found = locate(document.root, key) if document.root else None
    if found is None:
        raise _NoFixError
    return remove_pair(document, *found)


def _rewrite(observation: Observation, document: Document) -> Edit:
    value = observation.value
    if observation.rewrite == "key" and observation.replacement and value.key_span is not None:
        name = observation.replacement.rpartition(".")[2]
        quoted = document.text[value.key_span.start : value.key_span.start + 1] in ('"', "'")
        text = scalar_text(name, "json") if quoted else name
        return Edit(document.file, value.key_span.start, value.key_span.end, text)
    if observation.rewrite == "value" and observation.replacement and value.span is not None:
        return Edit(document.file, value.span.start, value.span.end, observation.replacement)
    if observation.rewrite == "remove" and document.root is not None and value.key_span is not None:
        found = _at(document.root, value.key_span.start)
        if found is not None:
            return remove_pair(document, *found)
    raise _NoFixError


def locate(root: Node | None, dotted: str) -> tuple[Node, Pair] | None:
    """The mapping and pair at a dotted key; list indexes are not followed."""
    if root is None or root.kind != "mapping":
        return None
    pair = root.pair(dotted)
    if pair is not None:
        return root, pair
    head, dot, rest = dotted.partition(".")
    outer = root.pair(head) if dot else None
    return locate(outer.value, rest) if outer is not None else None


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
