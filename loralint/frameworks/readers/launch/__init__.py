"""Options of the programs that start a training's processes: one reader for each launcher's own flags."""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.table import Values
from loralint.model import Value
from loralint.source.document import Document


def named(launcher: str) -> Callable[[Document, Values], Values]:
    """Add the launcher's name, which stands in no option of its own."""

    def combine(document: Document, values: Values) -> Values:
        del values
        root = document.root
        assert root is not None
        place = Value(launcher, "flag", launcher, span=document.span(root), field="dist.launcher")
        return {"dist.launcher": (place,)}

    return combine
