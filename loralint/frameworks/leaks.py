"""Secrets that stand in a config, as observations that never hold the secret itself."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Observation, Value
from loralint.source.document import Document, Node
from loralint.source.secrets import find, redact


def leaks(document: Document) -> Iterator[Observation]:
    """One observation for each scalar that holds a secret. One pass over the whole text settles most files."""
    if document.root is not None and redact(document.text) != document.text:
        yield from _inside(document, document.root, "")


def _inside(document: Document, node: Node, dotted: str) -> Iterator[Observation]:
    if node.kind == "mapping":
        for pair in node.pairs:
            key = f"{dotted}.{pair.key}" if dotted else pair.key
            if pair.value.kind == "scalar":
                kind = find(pair.key, pair.value.raw)
                if kind:
                    yield _leak(document, pair.value, pair.key_node, key, kind)
            else:
                yield from _inside(document, pair.value, key)
    elif node.kind == "sequence":
        for index, item in enumerate(node.items):
            kind = find(dotted, item.raw) if item.kind == "scalar" else None
            if kind:
                yield _leak(document, item, item, f"{dotted}[{index}]", kind)
            else:
                yield from _inside(document, item, f"{dotted}[{index}]")


def _leak(document: Document, node: Node, key_node: Node, key: str, kind: str) -> Observation:
    place = Value("***", key=key, text="***", span=document.span(node), key_span=document.span(key_node))
    return Observation("secret", place, "harmless", f"`{key}` holds a {kind}")
