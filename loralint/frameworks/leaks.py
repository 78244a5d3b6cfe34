"""Secrets that stand in a config, as observations that never hold the secret itself."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Observation, Value
from loralint.source.document import Document, Node
from loralint.source.secrets import find, holds_one

_FROM_ENVIRONMENT = "in the environment (HF_TOKEN, WANDB_API_KEY) instead of `{}`"
_FROM_SECRET = "from a Secret: `valueFrom.secretKeyRef` with its name and key instead of `value`"  # noqa: S105


def leaks(document: Document) -> Iterator[Observation]:
    """One observation for each scalar that holds a secret. One pass over the whole text settles most files."""
    if document.root is not None and holds_one(document.text):
        for root in document.roots:
            yield from _inside(document, root, "", "")


def _inside(document: Document, node: Node, dotted: str, pointer: str) -> Iterator[Observation]:
    variable = _variable(node)
    for name, label, key_node, child in _children(node, dotted):
        at = f"{pointer}/{label.replace('~', '~0').replace('/', '~1')}"
        own = variable if label == "value" else ""
        if child.kind != "scalar":
            yield from _inside(document, child, name, at)
        elif child.tag != "object" and (kind := find(label if node.kind == "mapping" else dotted, child.raw)):
            span, key_span = document.span(child), document.span(key_node)
            place = Value("***", key=own or name, pointer=at, text="***", span=span, key_span=key_span)
            source = _FROM_SECRET if own else _FROM_ENVIRONMENT.format(name)
            data = {"advice": f"hand the new one over {source}"}
            yield Observation("secret", place, "harmless", f"`{own or name}` holds a {kind}", data=data)


def _variable(node: Node) -> str:
    """The name of an environment variable that a manifest lists as `name` and `value`."""
    name = node.get("name") if node.kind == "mapping" and node.get("value") is not None else None
    return name.raw if name is not None and name.kind == "scalar" else ""


def _children(node: Node, dotted: str) -> Iterator[tuple[str, str, Node, Node]]:
    """Dotted name, last part of the pointer, node of the key (of an item the item) and node of the value."""
    if node.kind == "mapping":
        for pair in node.pairs:
            yield (f"{dotted}.{pair.key}" if dotted else pair.key), pair.key, pair.key_node, pair.value
    elif node.kind == "sequence":
        for index, item in enumerate(node.items):
            yield f"{dotted}[{index}]", str(index), item, item
