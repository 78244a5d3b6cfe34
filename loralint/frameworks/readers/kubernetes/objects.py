"""The objects of a manifest, those in lists, wrappers and workflows as well."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, text, top, word
from loralint.source.document import Document, Node
from loralint.source.inner import every, pieces_of, read_pieces

WORKFLOWS = frozenset({"Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"})
_TEMPLATE = re.compile(r"\{\{[^{}\n]*\}\}")
# Stand for braces while a text is read, so that every place stays.
_OPEN, _CLOSE = "\ue002", "\ue003"
_DEEP = 4  # lists and wrappers within one another


def objects(document: Document) -> Iterator[At]:
    """Every object of the file, those in lists and wrappers as well."""
    for root in document.roots:
        yield from _unpacked(document, top(root), _DEEP)


def _unpacked(document: Document, at: At, depth: int) -> Iterator[At]:
    kind = word(at, "kind")
    if depth and kind == "List":
        for item in items(named(at, "items")):
            yield from _unpacked(document, item, depth - 1)
    elif depth and kind == "AppWrapper":
        for component in items(inside(at, "spec.components")):
            wrapped = named(component, "template")
            if wrapped is not None:
                yield from _unpacked(document, wrapped, depth - 1)
    elif at.node.kind == "mapping":
        yield at
        if depth and kind in WORKFLOWS:
            yield from _made(document, at, depth)


def _made(document: Document, at: At, depth: int) -> Iterator[At]:
    """The objects that a workflow makes, whose manifests stand in it as texts."""
    spec = inside(at, "spec.workflowSpec") or named(at, "spec")
    for one in items(named(spec, "templates")):
        manifest = inside(one, "resource.manifest")
        if manifest is not None and "kind" in text(manifest):
            for root in _filled_later(document, manifest.node):
                yield from _unpacked(document, At(root, manifest.key, manifest.pointer), depth - 1)


def _filled_later(document: Document, node: Node) -> list[Node]:
    """The objects of a text in which Argo fills in `{{...}}` before anybody reads it as YAML."""
    raw = _TEMPLATE.sub(lambda match: match[0].replace("{", _OPEN).replace("}", _CLOSE), node.raw)
    found = read_pieces(document, raw, pieces_of(document.text, node)[0], "manifest.yaml").roots
    for one in every(found) if raw != node.raw else ():
        one.raw = one.raw.replace(_OPEN, "{").replace(_CLOSE, "}")
    return found
