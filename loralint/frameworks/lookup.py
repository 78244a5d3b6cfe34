"""Where a dotted key stands in a tree."""

from __future__ import annotations

from loralint.source.document import Node, Pair


def find(root: Node, dotted: str) -> Pair | None:
    """Find the pair at a dotted path; a key that itself holds dots is found whole."""
    pair = root.pair(dotted)
    if pair is not None or "." not in dotted:
        return pair
    head, _, rest = dotted.partition(".")
    outer = root.pair(head)
    return find(outer.value, rest) if outer is not None and outer.value.kind == "mapping" else None
