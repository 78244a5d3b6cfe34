"""The environment of a container, as the kubelet makes it: `env` over `envFrom`, with `$(NAME)` filled in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, find_map, text_of
from loralint.frameworks.readers.kubernetes.tree import At, items, named, word
from loralint.source.command import Part
from loralint.source.document import Document, Node
from loralint.source.inner import pieces_of
from loralint.source.scalars import is_template
from loralint.source.shell.words import Field, bounded

# `$$` is one dollar, `$(NAME)` a variable that was given before; every other dollar stays. `{{name}}` is a template's.
_REFERENCE = re.compile(r"\$(?:\$|\(([A-Za-z_.-][\w.-]*)\))|\{\{[ \t]*([\w.-]+)[ \t]*\}\}")
_MOST = 1000  # variables of one container; real ones have some dozens
_ELSEWHERE = {
    "secretKeyRef": "it comes from a Secret",
    "fieldRef": "Kubernetes fills it in when the pod starts",
    "resourceFieldRef": "Kubernetes fills it in when the pod starts",
}


def field_of(document: Document, node: Node, known: Mapping[str, Field]) -> Field:
    """A scalar as a word that nobody takes apart, with the variables that the kubelet fills in."""
    pieces, _ = pieces_of(document.text, node)
    parts: list[Part] = []
    at, end = 0, node.start
    for piece in pieces:
        if piece.at > at:  # what is written otherwise than it is: an escape, a fold
            parts.append(Part(node.raw[at : piece.at], end, end))
        text = node.raw[piece.at : piece.at + piece.length]
        if text:
            parts.append(Part(text, piece.start, piece.start + len(text)))
        at, end = piece.at + len(text), piece.start + len(text)
    if at < len(node.raw):
        parts.append(Part(node.raw[at:], end, end))
    if "$" in node.raw or "{{" in node.raw:
        parts = list(_filled(node.raw, parts, known))
    return bounded_text(Field(tuple(_open(parts)), node.start, node.end, quoted=True))


def bounded_text(field: Field) -> Field:
    """The same, or unknown where variables made it longer than anybody writes."""
    return field if sum(len(part.text) for part in field.parts) < 256 * 1024 else bounded(field)


def _open(parts: list[Part]) -> Iterator[Part]:
    """Parts that are filled in before Kubernetes gets the manifest are unknown; a shell's own are its business."""
    for part in parts:
        if not part.why and "{{" in part.text and is_template(part.text):
            yield part._replace(why=f"`{part.text.strip()[:60]}` is filled in before the manifest is applied")
        else:
            yield part


def _filled(raw: str, parts: list[Part], known: Mapping[str, Field]) -> Iterator[Part]:
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part.text))
    at = 0
    for match in _REFERENCE.finditer(raw):
        given = known.get(f"{{{{{match[2]}}}}}" if match[2] else match[1] or "")
        if match[1] and given is None:
            continue  # stays as it is, for a shell to run
        yield from _cut(parts, starts, at, match.start())
        if given is not None:
            yield from given.parts
        elif match[2]:
            why = f"template: nothing in the file says what `{match[0]}` becomes"
            yield from (one._replace(why=why) for one in _cut(parts, starts, match.start(), match.end()))
        else:
            yield from _cut(parts, starts, match.start(), match.start() + 1)
        at = match.end()
    yield from _cut(parts, starts, at, len(raw))


def _cut(parts: list[Part], starts: list[int], start: int, end: int) -> Iterator[Part]:
    """The parts of a stretch."""
    for index in range(max(bisect_right(starts, start) - 1, 0), len(parts)):
        part, first = parts[index], starts[index]
        if first >= end:
            return
        text = part.text[max(start - first, 0) : end - first]
        if text:
            exact = part.end - part.start == len(part.text)
            begin = part.start + max(start - first, 0) if exact else part.start
            yield Part(text, begin, begin + len(text) if exact else part.end, part.why)


def variables(
    document: Document,
    container: At,
    maps: tuple[ConfigMap, ...] = (),
    namespace: str = "",
    parameters: Mapping[str, Field] = {},
) -> dict[str, Field]:
    """Every variable that the manifest gives, in order; one from elsewhere is unknown. parameters: what templates in
    the values become.
    """
    found: dict[str, Field] = {}
    for one in items(named(container, "envFrom"))[:_MOST]:
        held = named(one, "configMapRef")
        given = find_map(maps, word(held, "name"), namespace) if held is not None else None
        for name, text in given.texts.items() if given is not None else ():
            found[f"{word(one, 'prefix')}{name}"] = _from(one.node, text.content)
    for one in items(named(container, "env"))[:_MOST]:
        name = word(one, "name")
        if name:
            found[name] = _variable(document, one, name, {**parameters, **found}, maps, namespace)
    return found


def _variable(
    document: Document, one: At, name: str, known: Mapping[str, Field], maps: tuple[ConfigMap, ...], namespace: str
) -> Field:
    value = named(one, "value")
    if value is not None and value.node.kind == "scalar":
        return field_of(document, value.node, known)
    source = named(one, "valueFrom")
    if source is None:
        return _from(one.node, "")
    held = named(source, "configMapKeyRef")
    text = text_of(held, maps, namespace) if held is not None else None
    if text is not None:
        return _from(one.node, text.content)
    why = next((why for key, why in _ELSEWHERE.items() if named(source, key) is not None), "")
    if not why:
        why = f"it comes from the ConfigMap `{word(held, 'name')}`, which is not at hand"
    return _from(one.node, f"${{{name}}}", f"`${name}` is not known: {why}")


def _from(node: Node, text: str, why: str = "") -> Field:
    """A value that stands elsewhere, at the place that fetches it."""
    return Field((Part(text, node.start, node.start, why),), node.start, node.start, quoted=True)


def working_folder(container: At) -> str:
    """Where the command starts, "" when the image decides."""
    folder = word(container, "workingDir")
    return folder if folder.startswith("/") and "$" not in folder and not is_template(folder) else ""
