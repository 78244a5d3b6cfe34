"""The environment of a container, as the kubelet makes it: `env` over `envFrom`, with `$(NAME)` filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, find_map, text_of
from loralint.frameworks.readers.kubernetes.tree import At, items, named, word
from loralint.source.command import Part
from loralint.source.document import Document, Node
from loralint.source.filled import Cut, fill, parts_of
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
    parts = parts_of(document, node)
    if "$" in node.raw or "{{" in node.raw:
        parts = fill(node.raw, parts, _REFERENCE, partial(_given, known))
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


def _given(known: Mapping[str, Field], match: re.Match[str], cut: Cut) -> Iterable[Part] | None:
    """What a reference becomes; None for a variable of nobody's, which stays as it is, for a shell to run."""
    given = known.get(f"{{{{{match[2]}}}}}" if match[2] else match[1] or "")
    if given is not None:
        return given.parts
    if match[2]:
        why = f"template: nothing in the file says what `{match[0]}` becomes"
        return [one._replace(why=why) for one in cut(match.start(), match.end())]
    return None if match[1] else cut(match.start(), match.start() + 1)


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
