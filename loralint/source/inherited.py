"""A config of NeMo-RL with the files that it builds on: `defaults` are paths, seen from the file that has them.

Source: NVIDIA-NeMo/RL v0.7.0 nemo_rl/utils/config.py. The later of several counts, and the file itself last; a section
of the root with `_override_: true` replaces what was there before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.composed import FILES, Composed, Unseen, laid_over, placed, without_defaults
from loralint.source.document import Node
from loralint.source.limits import NODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.document import Document

    # Give the file of a path as seen from another file.
    Beside = Callable[[str, str], Document | None]

_DEEPEST = 10
_MARK = "_override_"


def inherited(document: Document, beside: Beside) -> Composed | None:
    """The config with all that it builds on, None where not all of it is seen."""
    if document.root is None or document.root.pair("defaults") is None:
        return None
    met: dict[str, Document] = {}
    try:
        root = _whole(document, document, beside, met, [NODES])
    except (Unseen, RecursionError):
        return None
    return Composed(root, tuple(one for one in met.values() if one is not document))


def _whole(first: Document, document: Document, beside: Beside, met: dict[str, Document], budget: list[int]) -> Node:
    root = document.root
    if root is None or document.problems or len(document.roots) != 1 or len(met) > FILES:
        raise Unseen
    met[document.file] = document
    own = without_defaults(root if document is first else placed(root, document, budget))
    made: Node | None = None
    for path in _paths(root.get("defaults")):
        found = beside(path, document.file)
        if found is None or len(met) > _DEEPEST * _DEEPEST or found is first:
            raise Unseen
        above = _whole(first, found, beside, met, budget)
        made = above if made is None else _merged(made, above)
    return own if made is None else _merged(made, own)


def _paths(defaults: Node | None) -> list[str]:
    if defaults is None:
        return []
    items = defaults.items if defaults.kind == "sequence" else [defaults]
    if any(one.kind != "scalar" or one.tag == "null" or "$" in one.raw for one in items):
        raise Unseen
    return [one.raw for one in items]


def _merged(below: Node, above: Node) -> Node:
    replaced = {pair.key for pair in above.pairs if _replaces(pair.value)}
    kept = Node("mapping", "map", below.start_mark, below.end_mark)
    kept.pairs = [pair for pair in below.pairs if pair.key not in replaced]
    over = Node("mapping", "map", above.start_mark, above.end_mark)
    over.pairs = [pair._replace(value=_unmarked(pair.value)) for pair in above.pairs]
    return laid_over(kept, over)


def _replaces(node: Node) -> bool:
    mark = node.get(_MARK) if node.kind == "mapping" else None
    return mark is not None and mark.raw.lower() == "true"


def _unmarked(node: Node) -> Node:
    if node.kind != "mapping" or node.pair(_MARK) is None or not _replaces(node):
        return node
    made = Node("mapping", "map", node.start_mark, node.end_mark)
    made.pairs = [pair for pair in node.pairs if pair.key != _MARK]
    return made
