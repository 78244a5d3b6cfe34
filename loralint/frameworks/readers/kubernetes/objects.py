"""The objects of a manifest, those in lists, wrappers and workflows as well."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, text, top, word
from loralint.source.document import Document
from loralint.source.inner import read_inner

WORKFLOWS = frozenset({"Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"})
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
            for root in read_inner(document, manifest.node, "manifest.yaml").roots:
                yield from _unpacked(document, At(root, manifest.key, manifest.pointer), depth - 1)
