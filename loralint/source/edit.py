"""Text edits by span. All other bytes stay; what cannot be done surely raises ValueError and is then no fix.

A node reached through an alias or a merge key belongs to the place of the anchor: editing it changes every user of the
anchor, so callers should look at `Node.alias` and `Pair.merged` on their way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.model import Edit
from loralint.source.edit_call import elsewhere, insert_argument, remove_argument
from loralint.source.edit_cell import in_cell, in_string
from loralint.source.edit_flag import insert_flag, remove_flag
from loralint.source.literal import pair_text, scalar_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loralint.source.document import Document, Node, Pair

__all__ = ["apply", "insert_pair", "remove_pair", "scalar_text", "set_value"]

_BREAK = re.compile(r"\r\n|\r|\n")
_TO_COLON = re.compile(r"[ \t]*:")
_TO_EQUALS = re.compile(r"[ \t]*=")
_TO_COMMA = re.compile(r"\s*,")
# What may stand between a value and the end of its line, and around pairs in flow style.
_REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?")
_BLANK_OR_COMMENTS = re.compile(r"(?:\s|(?<=\s)#[^\r\n]*)*")
# What may stand before the key in its line: indentation and dashes; in TOML the head of a dotted name.
_YAML_PREFIX = re.compile(r" *(?:-[ \t]+)*")
_TOML_PREFIX = re.compile(r"[ \t]*(?:(?:[\w-]+|\"[^\"\r\n]*\"|'[^'\r\n]*')[ \t]*\.[ \t]*)*")


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after all edits; ValueError if two of them overlap or one leaves the text."""
    pieces = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not at <= edit.start <= edit.end <= len(text):
            raise ValueError(f"an edit overlaps another or leaves the text at offset {edit.start}")
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def set_value(doc: Document, node: Node, text: str) -> Edit:
    """Replace a value by a text of one line. An anchor on it stays; an alias is replaced, not what it names."""
    _keep_sealed(doc)
    before = doc.text[: node.start].rstrip(" \t")[-1:]
    if doc.format == "flags" and node.tag == "bool" and doc.text[node.start : node.start + 1] == "-":
        raise ValueError("a switch has no value of its own, and not every program takes one behind it")
    if elsewhere(doc, node):
        raise ValueError("the value stands in another file")
    if doc.format == "toml" and node.kind != "scalar" and before not in {"=", "[", ","}:
        raise ValueError("a TOML table is no single value")
    if node.start == node.end:
        if before not in {":", "-"}:
            raise ValueError("there is no place for a value here")
        return Edit(doc.file, node.start, node.end, " " + text)
    if in_cell(node):
        return in_string(doc, Edit(doc.file, node.start, node.end, text))
    _keep_anchors(doc, node.start, node.end)
    if doc.format != "yaml" or node.kind == "scalar" or node.alias or _is_flow(doc, node):
        return Edit(doc.file, node.start, node.end, text)
    return _replace_block(doc, node, text)


def _replace_block(doc: Document, node: Node, text: str) -> Edit:
    """Replace a list or mapping in block style: below its key a one-line value would not be indented enough."""
    owner = _owner(doc, lambda pair: pair.value is node)
    if owner is None or owner[1].key_node.line == node.line:
        return Edit(doc.file, node.start, node.end, text)
    colon = _colon(doc, owner[1])
    between = doc.text[colon : node.start]
    if not _BLANK_OR_COMMENTS.fullmatch(doc.text, colon, node.start):
        raise ValueError("the value has an anchor or a tag")
    return Edit(doc.file, colon, node.end, f" {text}{between.rstrip()}")


def insert_pair(doc: Document, after: Pair, key: str, text: str) -> Edit:
    """Add `key` with a one-line value behind a pair of the same mapping, in that mapping's style."""
    _keep_sealed(doc)
    _keep_here(doc, after)
    owner = None if after.merged else _owner(doc, lambda pair: pair.key_node is after.key_node)
    if owner is None:
        raise ValueError("the pair has no place of its own in the file")
    mapping, _, flow = owner
    if doc.format == "python":
        return insert_argument(doc, mapping, key, text)
    if doc.format in ("flags", "settings"):
        return insert_flag(doc, after, key, text)
    new = pair_text(key, text, doc.format)
    prefix = _prefix(doc, after)
    if flow:
        if not _is_flow(doc, mapping):
            raise ValueError("a single pair inside a flow list has no room for a second")
        own_line = not prefix.strip() and doc.format != "toml"
        separator = f",{doc.newline}{prefix}" if own_line else ", "
        return Edit(doc.file, after.value.end, after.value.end, separator + new)
    _colon(doc, after)
    at = _line_end(doc, after.value.end)
    if doc.format == "toml":
        head = _toml_head(doc, after, prefix)
    else:
        _yaml_indent(prefix)
        head = " " * (after.key_node.column - 1)
    return Edit(doc.file, at, at, doc.newline + head + new)


def remove_pair(doc: Document, mapping: Node, pair: Pair) -> Edit:
    """Take a pair out: its lines with the comment behind it, or in flow style the pair and one comma."""
    _keep_sealed(doc)
    _keep_here(doc, pair)
    if pair.merged:
        raise ValueError("the pair comes from a merge key")
    if doc.format == "python":
        return remove_argument(doc, mapping, pair)
    if doc.format in ("flags", "settings"):
        return remove_flag(doc, pair)
    _colon(doc, pair)
    edit = _remove_flow(doc, mapping, pair) if _is_flow(doc, mapping) else _remove_lines(doc, mapping, pair)
    _keep_anchors(doc, edit.start, edit.end)
    return edit


def _remove_flow(doc: Document, mapping: Node, pair: Pair) -> Edit:
    text, start, end = doc.text, pair.key_node.start, pair.value.end
    own = [one for one in mapping.pairs if not one.merged]
    before = max((one.value.end for one in own if one.value.end <= start), default=mapping.start + 1)
    if not re.fullmatch(r"[\s,]*", _BLANK_OR_COMMENTS.sub("", text[before:start])):
        raise ValueError("the key is not written plainly")
    comma = _TO_COMMA.match(text, end)
    is_last = all(one.key_node.start <= start for one in own)
    if len(own) == 1 and not (text[before:start] + text[end : mapping.end - 1]).strip(" \t\r\n,"):
        return Edit(doc.file, mapping.start + 1, mapping.end - 1, "")
    if is_last and before > mapping.start + 1 and "#" not in text[before:start]:
        return Edit(doc.file, before, end, "")
    if comma is None:
        comment = _REST.match(text, end)
        return Edit(doc.file, start, comment.end() if comment and "#" in comment[0] else end, "")
    return Edit(doc.file, start, _next_content(text, comma.end()), "")


def _remove_lines(doc: Document, mapping: Node, pair: Pair) -> Edit:
    text, start, end = doc.text, pair.key_node.start, pair.value.end
    prefix = _prefix(doc, pair)
    if doc.format == "toml":
        _toml_head(doc, pair, prefix)
        prefix = ""
    else:
        around = text[mapping.start : start] + text[end : mapping.end]
        if sum(not one.merged for one in mapping.pairs) == 1 and "<<" not in around:
            return Edit(doc.file, mapping.start, mapping.end, "{}")
        _yaml_indent(prefix)
    line_end = _line_end(doc, end)
    if prefix.strip():  # the first key behind a dash: the next line takes its place
        return Edit(doc.file, start, _next_content(text, line_end), "")
    line_break = _BREAK.match(text, line_end)
    line_start = doc.lines.starts[pair.key_node.line - 1]
    return Edit(doc.file, line_start, line_break.end() if line_break else line_end, "")


def _next_content(text: str, at: int) -> int:
    """Skip the rest of the line with its comment and, if it ends there, the next line's indentation."""
    rest = _REST.match(text, at)
    end = rest.end() if rest else at
    line_break = _BREAK.match(text, end)
    if line_break:
        end = line_break.end()
        while text[end : end + 1] in {" ", "\t"}:
            end += 1
    return end


def _line_end(doc: Document, at: int) -> int:
    """Find the end of a value's line, where only a comment may follow."""
    rest = _REST.match(doc.text, at)
    end = rest.end() if rest else at
    if end < len(doc.text) and not _BREAK.match(doc.text, end):
        raise ValueError("something else follows in the same line")
    return end


def _prefix(doc: Document, pair: Pair) -> str:
    """Give what stands before the key in its line."""
    return doc.text[doc.lines.starts[pair.key_node.line - 1] : pair.key_node.start]


def _yaml_indent(prefix: str) -> None:
    if not _YAML_PREFIX.fullmatch(prefix):
        raise ValueError("the key is not written plainly")


def _toml_head(doc: Document, pair: Pair, prefix: str) -> str:
    """Give the indentation and dotted head that a neighbour of this pair needs as well."""
    if not _TOML_PREFIX.fullmatch(prefix) or not _TO_EQUALS.match(doc.text, pair.key_node.end):
        raise ValueError("a TOML table has more than one place")
    return prefix


def _colon(doc: Document, pair: Pair) -> int:
    """Find the offset behind the colon; ValueError for a key in the long form (`? key`) or a TOML table."""
    pattern = _TO_EQUALS if doc.format == "toml" else re.compile(r"\s*:") if doc.format == "json" else _TO_COLON
    colon = pattern.match(doc.text, pair.key_node.end)
    if colon is None:
        raise ValueError("the key is not written plainly")
    return colon.end()


def _is_flow(doc: Document, node: Node) -> bool:
    """Whether a collection stands in brackets; of TOML tables and their lists only inline ones can be asked about."""
    return doc.text[node.start : node.start + 1] == ("{" if node.kind == "mapping" else "[")


def _keep_sealed(doc: Document) -> None:
    if doc.sealed:
        raise ValueError(doc.sealed)


def _keep_here(doc: Document, pair: Pair) -> None:
    if doc.format != "python" and (elsewhere(doc, pair.key_node) or elsewhere(doc, pair.value)):
        raise ValueError("the pair stands in another file")


def _keep_anchors(doc: Document, start: int, end: int) -> None:
    if any(start <= anchor < end for anchor in doc.anchors):
        raise ValueError("an anchor lies inside, which an alias may need")


def _owner(doc: Document, wanted: Callable[[Pair], bool]) -> tuple[Node, Pair, bool] | None:
    """Find a pair where it is written: its mapping, itself, and whether brackets stand around it."""
    queue = [(root, False) for root in doc.roots]
    while queue:
        node, flow = queue.pop()
        if node.alias or node.kind == "scalar":
            continue
        flow = _is_flow(doc, node) or (flow and doc.format != "toml")
        queue += [(item, flow) for item in node.items]
        for pair in node.pairs:
            if not pair.merged:
                if wanted(pair):
                    return node, pair, flow
                queue.append((pair.value, flow))
    return None
