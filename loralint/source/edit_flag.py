"""Flags of a command line put in and taken out by span; a value may stand elsewhere, where a variable got it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.model import Edit
from loralint.source.edit_cell import in_cell, in_string
from loralint.source.literal import pair_text

if TYPE_CHECKING:
    from loralint.source.document import Document, Pair

# what may stand between a flag and its value when both stand on one line
_BETWEEN = re.compile(r"[ \t]*=?[ \t]*[\"']?")
_BEFORE = re.compile(r"[ \t]+$")
_MOST_BLANKS = 200


def insert_flag(doc: Document, after: Pair, key: str, text: str) -> Edit:
    """Put a flag behind another one. ValueError where that one's end is not plain to see."""
    at = _end(doc, after)
    edit = Edit(doc.file, at, at, f" {pair_text(key, text, doc.format)}")
    return in_string(doc, edit) if in_cell(after.key_node) else edit


def remove_flag(doc: Document, pair: Pair) -> Edit:
    """Take a flag out with its value and the blanks before it. ValueError as above."""
    end = _end(doc, pair)
    start = pair.key_node.start
    if in_cell(pair.key_node):
        blanks = _BEFORE.search(doc.text[max(start - _MOST_BLANKS, 0) : start])
        return in_string(doc, Edit(doc.file, start - (len(blanks[0]) if blanks else 0), end, ""))
    line = doc.text[doc.lines.starts[pair.key_node.line - 1] : start]
    before = _BEFORE.search(line) if line.strip() else None
    return Edit(doc.file, start - (len(before[0]) if before else 0), end, "")


def _end(doc: Document, pair: Pair) -> int:
    """The offset behind a flag and its value, which has to stand right behind it, quotes and all."""
    key, value = pair.key_node, pair.value
    if value.start >= key.start and value.end <= key.end:  # a switch
        return key.end
    between = doc.text[key.end : value.start]
    inner = doc.text[value.start : value.end]
    plain = value.start >= key.end and _BETWEEN.fullmatch(between) and not re.search(r"[$`\\\n]", inner)
    quote = between[-1:] if between[-1:] in ("'", '"') else ""
    if not plain or (quote and doc.text[value.end : value.end + 1] != quote):
        raise ValueError("where the flag's value ends is not plain to see")
    return value.end + len(quote)
