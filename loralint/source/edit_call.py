"""Arguments of a call put in and taken out by span; a value may stand elsewhere, where a variable got it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.model import Edit
from loralint.source.edit_cell import in_cell, in_string
from loralint.source.literal import pair_text

if TYPE_CHECKING:
    from loralint.source.document import Document, Node, Pair

# a keyword with a value that is a name or a literal of one line
_PLAINLY = r"{}\s*=\s*(?:[\w.]+|[rR]?\"[^\"\\\r\n]*\"|[rR]?'[^'\\\r\n]*')(?=\s*[,)\r\n#])"
_COMMA = re.compile(r"\s*,[ \t]*")


def elsewhere(doc: Document, node: Node) -> bool:
    """Whether a node stands in a file that the program only loads."""
    return getattr(node.start_mark, "file", doc.file) != doc.file


def insert_argument(doc: Document, call: Node, key: str, text: str) -> Edit:
    """Put a keyword before the first one that the call has. ValueError where it has none."""
    first = next((pair for pair in call.pairs if _is_keyword(doc, call, pair)), None)
    if first is None:
        raise ValueError("there is no keyword beside which another one could stand")
    at = first.key_node.start
    if in_cell(call):
        return in_string(doc, Edit(doc.file, at, at, f"{pair_text(key, text, 'python')}, "))
    quoted = doc.text[at] in "\"'"
    line = doc.text[doc.lines.starts[first.key_node.line - 1] : at]
    gap = doc.newline + line if not line.strip() else " "
    new = pair_text(key, text, "json" if quoted else "python")
    return Edit(doc.file, at, at, f"{new},{gap}")


def remove_argument(doc: Document, call: Node, pair: Pair) -> Edit:
    """Take a keyword out with one comma. ValueError where its end is not plain to see."""
    edit = _remove(doc, call, pair)
    return in_string(doc, edit) if in_cell(call) else edit


def _remove(doc: Document, call: Node, pair: Pair) -> Edit:
    if not _is_keyword(doc, call, pair):
        raise ValueError("the argument is not written as a keyword here")
    start, end = pair.key_node.start, _end(doc, pair)
    behind = _COMMA.match(doc.text, end)
    if behind is not None:
        return Edit(doc.file, start, _next(doc, behind.end()), "")
    before = re.search(r",\s*$", doc.text[call.start : start])
    return Edit(doc.file, call.start + before.start() if before else start, end, "")


def _next(doc: Document, at: int) -> int:
    """Skip the end of the line and the next one's indentation; a comment behind the argument stays."""
    found = re.compile(r"(?:\r\n|\r|\n)[ \t]*").match(doc.text, at)
    return found.end() if found is not None else at


def _is_keyword(doc: Document, call: Node, pair: Pair) -> bool:
    start, end = pair.key_node.start, pair.key_node.end
    inside = call.start <= start and end <= call.end and not elsewhere(doc, pair.key_node)
    return inside and doc.text[start:end].strip("\"'") == pair.key


def _end(doc: Document, pair: Pair) -> int:
    value = pair.value
    between = doc.text[pair.key_node.end : value.start]
    if re.fullmatch(r"\s*[=:]\s*", between) and value.end > value.start and not elsewhere(doc, value):
        return value.end
    found = re.compile(_PLAINLY.format(re.escape(pair.key))).match(doc.text, pair.key_node.start)
    if found is None:
        raise ValueError("where the value ends is not plain to see")
    return found.end()
