"""Places in a manifest: a node with the dotted name and the pointer that lead to it."""

from __future__ import annotations

from typing import NamedTuple

from loralint.model import Value
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template


class At(NamedTuple):
    """A node and how one gets there. key: `spec.template.spec.containers[0].image`; label: the node of its own key."""

    node: Node
    key: str
    pointer: str
    label: Node | None = None


def top(root: Node) -> At:
    """The root of one object."""
    return At(root, "", "")


def inside(at: At | None, dotted: str) -> At | None:
    """What stands under names joined by dots, or nothing; see `named` for a name that holds dots."""
    for name in dotted.split("."):
        at = named(at, name)
    return at


def named(at: At | None, name: str) -> At | None:
    """What stands under one name, which may hold dots: `nvidia.com/gpu`."""
    pair = at.node.pair(name) if at is not None and at.node.kind == "mapping" else None
    if at is None or pair is None:
        return None
    key = f"{at.key}.{name}" if at.key else name
    return At(pair.value, key, f"{at.pointer}/{name.replace('~', '~0').replace('/', '~1')}", pair.key_node)


def entries(at: At | None) -> list[At]:
    """What stands under each name of a mapping."""
    names = [pair.key for pair in at.node.pairs] if at is not None and at.node.kind == "mapping" else []
    return [found for name in dict.fromkeys(names) if (found := named(at, name)) is not None]


def items(at: At | None) -> list[At]:
    """The items of a list."""
    if at is None or at.node.kind != "sequence":
        return []
    return [At(node, f"{at.key}[{index}]", f"{at.pointer}/{index}") for index, node in enumerate(at.node.items)]


def text(at: At | None) -> str:
    """A scalar's text; empty for none."""
    return at.node.raw if at is not None and at.node.kind == "scalar" and at.node.tag != "null" else ""


def word(at: At | None, name: str) -> str:
    """The text under a name."""
    return text(named(at, name))


def whole(at: At | None) -> int | None:
    """A whole number that is not negative, quoted or not; None for all else, such as a variable."""
    raw = text(at)
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 10 else None


def open_text(raw: str) -> bool:
    """Whether something else fills in this text, or a part of it, before or when the pod starts."""
    return "$" in raw or is_template(raw)


def value(document: Document, at: At, content: object = None, *, key: str = "") -> Value:
    """A place for an observation or a canonical value. key: another name for it."""
    return Value(
        content,
        key=key or at.key,
        pointer=at.pointer,
        text=document.text[at.node.start : at.node.end],
        span=document.span(at.node),
        key_span=document.span(at.label) if at.label is not None else None,
    )
