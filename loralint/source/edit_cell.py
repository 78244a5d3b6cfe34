"""Edits in the cells of a notebook, whose lines are strings of a JSON file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loralint.model import Edit
    from loralint.source.document import Document, Node

# What may stand inside a string of JSON.
_CONTENT = re.compile(r"(?:[^\"\\\x00-\x1f]|\\.)*")


def in_cell(node: Node) -> bool:
    """Whether a node stands in a notebook, whose cells are texts in quotes."""
    return getattr(node.start_mark, "cell", None) is not None


def in_string(doc: Document, edit: Edit) -> Edit:
    """An edit of the code as one of the string that holds it. ValueError where it would reach beyond that string."""
    if not _CONTENT.fullmatch(doc.text, edit.start, edit.end):
        raise ValueError("the place is spread over several lines of the cell")
    return edit._replace(text=json.dumps(edit.text, ensure_ascii=False)[1:-1])
