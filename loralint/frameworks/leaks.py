"""Secrets that stand in a config, as observations that never hold the secret itself."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Observation, Value
from loralint.source.document import Document, Node
from loralint.source.secrets import find, redact


def leaks(document: Document) -> Iterator[Observation]:
    """One observation for each scalar that holds a secret. One pass over the whole text settles most files."""
    if document.root is not None and redact(document.text) != document.text:
        yield from _inside(document, document.root, "", "")


def _inside(document: Document, node: Node, dotted: str, pointer: str) -> Iterator[Observation]:
    for name, label, key_node, child in _children(node, dotted):
        at = f"{pointer}/{label.replace('~', '~0').replace('/', '~1')}"
        if child.kind != "scalar":
            yield from _inside(document, child, name, at)
        elif kind := find(label if node.kind == "mapping" else dotted, child.raw):
            span, key_span = document.span(child), document.span(key_node)
            place = Value("***", key=name, pointer=at, text="***", span=span, key_span=key_span)
            yield Observation("secret", place, "harmless", f"`{name}` holds a {kind}")


def _children(node: Node, dotted: str) -> Iterator[tuple[str, str, Node, Node]]:
    """Dotted name, last part of the pointer, node of the key (of an item the item) and node of the value."""
    if node.kind == "mapping":
        for pair in node.pairs:
            yield (f"{dotted}.{pair.key}" if dotted else pair.key), pair.key, pair.key_node, pair.value
    elif node.kind == "sequence":
        for index, item in enumerate(node.items):
            yield f"{dotted}[{index}]", str(index), item, item
