"""JSON to nodes with exact places; what is accepted and what it means is json.loads' (NaN, lone surrogates and all)."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Fault, Mark, Node, Pair
from loralint.source.limits import DEPTH, NODES
from loralint.source.scalars import integer

if TYPE_CHECKING:
    from loralint.source.document import Document

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = re.compile(r"true|false|null|NaN|-?Infinity")
_NATIVE = {"true": True, "false": False, "null": None, "NaN": float("nan"), "Infinity": float("inf")}
_NATIVE["-Infinity"] = -float("inf")
_PYTHON_WORD = re.compile(r"(?:True|False|None)\b")
_BARE = re.compile(r"[A-Za-z_$][\w$.-]*")
_CONTROL = re.compile("[\x00-\x1f]")


class _Reader:
    """The state of one reading: the text and what has been spent."""

    def __init__(self, doc: Document) -> None:
        self.text = doc.text
        self.lines = doc.lines
        self.nodes = 0

    def document(self) -> Node:
        node, at = self.value(self.skip(0), 0)
        at = self.skip(at)
        if at < len(self.text):
            raise Fault("syntax", self.surplus(at), at)
        return node

    def skip(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        return space.end() if space else at

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        """Read the value that starts here; also give the offset after it."""
        self.nodes += 1
        if self.nodes > NODES:
            raise Fault("too-many-nodes", f"more than {NODES:,} values: not a training config", at)
        character = self.text[at : at + 1]
        if character == '"':
            return self.string(at)
        if character in {"{", "["}:
            if depth >= DEPTH:
                raise Fault("too-deep", f"nested more than {DEPTH} levels deep", at)
            return self.mapping(at, depth + 1) if character == "{" else self.sequence(at, depth + 1)
        return self.literal(at)

    def string(self, at: int) -> tuple[Node, int]:
        try:
            text, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise self.bad_string(at, error) from None
        return self.node("str", text, at, end, text), end

    def literal(self, at: int) -> tuple[Node, int]:
        word = _WORDS.match(self.text, at)
        if word:
            raw, end = word[0], word.end()
            tag = "null" if raw == "null" else "bool" if raw in {"true", "false"} else "float"
            return self.node(tag, raw, at, end, _NATIVE[raw]), end
        number = _NUMBER.match(self.text, at)
        if not number:
            raise Fault("syntax", self.no_value(at), at)
        raw, end = number[0], number.end()
        if number[2] or number[3]:
            return self.node("float", raw, at, end, float(raw)), end
        return self.node("int", raw, at, end, _integer(raw)), end

    def node(self, tag: str, raw: str, start: int, end: int, native: object) -> Node:
        return Node("scalar", tag, Mark(start, self.lines), Mark(end, self.lines), raw, tag != "str", native)

    def sequence(self, at: int, depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        end = self.skip(at + 1)
        if self.text[end : end + 1] != "]":
            while True:
                item, end = self.value(end, depth)
                items.append(item)
                end = self.skip(end)
                if self.text[end : end + 1] == "]":
                    break
                end = self.comma(end, at)
                if self.text[end : end + 1] == "]":
                    raise Fault("syntax", "a comma stands before the closing `]`; JSON allows none there", end)
        node = Node("sequence", "seq", Mark(at, self.lines), Mark(end + 1, self.lines))
        node.items = items
        return node, end + 1

    def mapping(self, at: int, depth: int) -> tuple[Node, int]:
        pairs: list[Pair] = []
        end = self.skip(at + 1)
        if self.text[end : end + 1] != "}":
            while True:
                pair, end = self.pair(end, depth)
                pairs.append(pair)
                end = self.skip(end)
                if self.text[end : end + 1] == "}":
                    break
                end = self.comma(end, at)
                if self.text[end : end + 1] == "}":
                    raise Fault("syntax", "a comma stands before the closing `}`; JSON allows none there", end)
        node = Node("mapping", "map", Mark(at, self.lines), Mark(end + 1, self.lines))
        node.pairs = pairs
        return node, end + 1

    def pair(self, at: int, depth: int) -> tuple[Pair, int]:
        if self.text[at : at + 1] != '"':
            raise Fault("syntax", self.no_key(at), at)
        key, end = self.string(at)
        end = self.skip(end)
        if self.text[end : end + 1] != ":":
            raise Fault("syntax", "a colon is missing after the key", end)
        value, end = self.value(self.skip(end + 1), depth)
        return Pair(key.raw, key, value), end

    def comma(self, at: int, opened: int) -> int:
        """Give the offset of what follows the comma that must stand here."""
        character = self.text[at : at + 1]
        if character == ",":
            return self.skip(at + 1)
        if not character:
            raise Fault("syntax", f"the `{self.text[opened]}` opened here is never closed", opened)
        if character in {"/", "#"}:
            raise Fault("syntax", "JSON has no comments", at)
        raise Fault("syntax", "a comma is missing before this", at)

    def bad_string(self, at: int, error: json.JSONDecodeError) -> Fault:
        reason = error.msg.lower()
        if "control character" in reason:
            bad = _CONTROL.search(self.text, at)
            where = bad.start() if bad else at
            if self.text[where] in "\r\n":
                return Fault("syntax", "the quote opened here is not closed on its line", at)
            return Fault("control-character", "a string holds a control character; write it as an escape", where)
        if "escape" in reason:
            return Fault("syntax", "JSON does not know this escape; write two backslashes", error.pos)
        return Fault("syntax", "the quote opened here is never closed", at)

    def no_value(self, at: int) -> str:
        text = self.text
        if at >= len(text):
            return "the file ends where a value is expected" if text.strip() else "the file is empty"
        if text[at] == "'":
            return "JSON strings take double quotes, not single ones"
        if _PYTHON_WORD.match(text, at):
            return "JSON writes true, false and null in lower case"
        if text[at] in "/#":
            return "JSON has no comments"
        return self.template(at) or "a value is expected here; text must stand in double quotes"

    def no_key(self, at: int) -> str:
        text = self.text
        if text[at : at + 1] == "'":
            return "JSON keys take double quotes, not single ones"
        if text[at : at + 1] in {"/", "#"} and at < len(text):
            return "JSON has no comments"
        if _BARE.match(text, at):
            return "a JSON key must stand in double quotes"
        return self.template(at) or "a key in double quotes is expected here"

    def template(self, at: int) -> str:
        near = self.text[max(at - 1, 0) : at + 2]
        return "this is a template: its {{ ... }} must be filled in before it is JSON" if "{{" in near else ""

    def surplus(self, at: int) -> str:
        if self.text[at] in "/#":
            return "JSON has no comments"
        return "text follows the end of the JSON value"


def _integer(raw: str) -> int | Unknown:
    number = integer(raw.lstrip("-"))
    return -number if raw[0] == "-" and isinstance(number, int) else number


def value_at(doc: Document, at: int) -> tuple[Node, int]:
    """Read the value that starts at an offset; also give the offset after it. Raises Fault."""
    return _Reader(doc).value(at, 0)


def read(doc: Document) -> None:
    """Fill a document from its text. Faults become problems."""
    try:
        doc.roots = [_Reader(doc).document()]
    except Fault as fault:
        doc.fault(fault.kind, fault.message, fault.at)
