"""TOML to nodes: values and validity from tomllib, which gives no places; places from tree-sitter.

Tree-sitter runs first because it is linear and does not recurse: tomllib is only given a text within the budgets (its
time grows with the square of a dotted key's length).
"""

from __future__ import annotations

import re
import tomllib
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import tree_sitter_toml
from tree_sitter import Language, Parser

from loralint.model import Unknown
from loralint.source.document import Fault, Mark, Node, Pair
from loralint.source.limits import DEPTH, INTEGER_DIGITS, NODES, TOML_LENGTH

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.document import Document

_TAGS = {"string": "str", "integer": "int", "float": "float", "boolean": "bool"}
_KEYS = {"bare_key", "quoted_key", "dotted_key"}
_HEADERS = {"table", "table_array_element"}
_TOO_DEEP = f"nested more than {DEPTH} levels deep"
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_REASONS = (
    ("Cannot overwrite", "this key was already given"),
    ("twice", "this table or key was already given"),
    ("Cannot mutate", "this table was already closed and cannot be extended"),
    ("Expected '=' after", "`=` is missing after the key"),
    ("Invalid statement", "this line is neither `key = value` nor a [table]"),
    ("Invalid initial character", "a key is expected here"),
    ("Expected newline", "text follows a value that is already complete; text values need quotes"),
    ("Invalid value", "a value is expected here; text must stand in quotes, true and false in lower case"),
    ("Unterminated string", "the quoted text that ends here is not closed"),
    ("Unclosed array", "the list is not closed, or a comma is missing"),
    ("Unclosed inline", "the inline table is not closed, or a comma is missing"),
    ("Unescaped", "TOML does not know this escape; use single quotes or two backslashes"),
    ("Expected ']", "the `]` of the table's name is missing"),
    ("Invalid date", "this date or time does not exist"),
    ("integer string", "an integer has more digits than Python reads"),
)


class _Builder:
    """The state of one reading: nodes under construction, found again by (their identity, key)."""

    def __init__(self, doc: Document, data: bytes) -> None:
        self.doc = doc
        self.data = data
        # byte offset -> offset in the text
        self.offsets = None if doc.text.isascii() else [*accumulate((byte & 0xC0) != 0x80 for byte in data), 0]
        self.children: dict[tuple[int, str], Node] = {}
        self.pairs: dict[int, list[Pair]] = {}
        self.items: dict[int, list[Node]] = {}

    def mark(self, byte: int) -> Mark:
        index = byte
        if self.offsets is not None:
            index = self.offsets[byte] - 1 if byte < len(self.data) else len(self.doc.text)
        return Mark(index, self.doc.lines)

    def text(self, syntax: Syntax) -> str:
        return self.data[syntax.start_byte : syntax.end_byte].decode()

    def mapping(self, start: int, end: int) -> Node:
        node = Node("mapping", "map", self.mark(start), self.mark(end))
        node.pairs = self.pairs[id(node)] = []
        return node

    def build(self, tree: Syntax, values: dict[str, Any]) -> Node:
        root = self.mapping(0, len(self.data))
        for child in tree.children:
            if child.type == "pair":
                self.pair(child, root, values, 1)
            elif child.type in _HEADERS:
                self.table(child, root, values)
        return root

    def table(self, syntax: Syntax, root: Node, values: dict[str, Any]) -> None:
        """Read `[name]` or `[[name]]` and the pairs below it."""
        pairs = [child for child in syntax.children if child.type == "pair"]
        closing = next(child for child in syntax.children if child.type in {"]", "]]"})
        start, end = syntax.start_byte, (_parts(pairs[-1])[-1] if pairs else closing).end_byte
        path = self.path(next(child for child in syntax.children if child.type in _KEYS))
        parent, inside = self.descend(root, path[:-1], values, start, end)
        name, key = path[-1]
        node = self.children.get((id(parent), name))
        if syntax.type == "table_array_element":
            if node is None:
                node = Node("sequence", "seq", self.mark(start), self.mark(end))
                node.items = self.items[id(node)] = []
                self.add(parent, name, key, node)
            item = self.mapping(start, end)
            inside = inside[name][len(node.items)]
            self.items[id(node)].append(item)
            node.move(None, item.end_mark)
            node = item
        else:
            if node is None:
                node = self.mapping(start, end)
                self.add(parent, name, key, node)
            node.move(self.mark(start), self.mark(end))
            inside = inside[name]
        for pair in pairs:
            self.pair(pair, node, inside, len(path) + 1)

    def pair(self, syntax: Syntax, parent: Node, values: dict[str, Any], depth: int) -> None:
        key_syntax, _, value_syntax = _parts(syntax)
        path = self.path(key_syntax)
        depth += len(path)
        owner, inside = self.descend(parent, path[:-1], values, syntax.start_byte, value_syntax.end_byte)
        name, key = path[-1]
        self.add(owner, name, key, self.value(value_syntax, inside[name], depth))

    def descend(self, node: Node, path: list[tuple[str, Node]], values: Any, start: int, end: int) -> tuple[Node, Any]:
        """Follow a dotted name, creating the mappings that it implies; of an array of tables the last one counts."""
        for name, key in path:
            child = self.children.get((id(node), name))
            if child is None:
                child = self.mapping(start, end)
                self.add(node, name, key, child)
            values = values[name]
            if child.kind == "sequence":
                values = values[len(child.items) - 1]
                child = child.items[-1]
            node = child
            node.move(None, max(node.end_mark, self.mark(end), key=lambda mark: mark.index))
        return node, values

    def add(self, parent: Node, name: str, key: Node, value: Node) -> None:
        self.children[id(parent), name] = value
        self.pairs[id(parent)].append(Pair(name, key, value))

    def path(self, syntax: Syntax) -> list[tuple[str, Node]]:
        """Split a key into its parts, each with its place."""
        if syntax.type == "dotted_key":
            return [part for child in syntax.children if child.type in _KEYS for part in self.path(child)]
        name = self.text(syntax)
        if syntax.type == "quoted_key":
            name = next(iter(tomllib.loads(f"{name} = 0")))
        plain = syntax.type == "bare_key"
        node = Node("scalar", "str", self.mark(syntax.start_byte), self.mark(syntax.end_byte), name, plain, name)
        return [(name, node)]

    def value(self, syntax: Syntax, native: Any, depth: int) -> Node:
        if depth > DEPTH:
            raise Fault("too-deep", _TOO_DEEP, self.mark(syntax.start_byte).index)
        start, end = syntax.start_byte, syntax.end_byte
        if syntax.type == "array":
            node = Node("sequence", "seq", self.mark(start), self.mark(end))
            items = (child for child in syntax.children if child.is_named and child.type != "comment")
            node.items = [self.value(child, item, depth + 1) for child, item in zip(items, native, strict=True)]
        elif syntax.type == "inline_table":
            node = self.mapping(start, end)
            for child in syntax.children:
                if child.type == "pair":
                    self.pair(child, node, native, depth)
        else:
            tag = _TAGS.get(syntax.type, "timestamp")
            raw = native if tag == "str" else self.text(syntax)
            if tag == "int" and abs(native) >= 10**INTEGER_DIGITS:
                native = Unknown(f"an integer of more than {INTEGER_DIGITS} digits")
            node = Node("scalar", tag, self.mark(start), self.mark(end), raw, tag != "str", native)
        return node


def _parts(pair: Syntax) -> list[Syntax]:
    """Key, sign and value of a pair; the syntax tree also puts the comment behind it there."""
    return [child for child in pair.children if child.type != "comment"]


def _spend(doc: Document, tree: Syntax) -> None:
    """Walk the syntax tree once without recursion: budgets, and the comments' places in bytes.

    In a broken text the tree may miss the depth of a dotted name, so there the dots themselves are counted.
    """
    if tree.has_error and any(line.count(".") > DEPTH for line in doc.text.split("\n")):
        raise Fault("syntax", "not valid TOML, and not looked into further because of its very long names", 0)
    cursor = tree.walk()
    nodes = 0
    while True:
        node = cursor.node
        if node is not None and node.is_named:
            nodes += 1
            if node.type == "comment":
                doc.comment_marks.append((node.start_byte, node.end_byte))
        if nodes > NODES:
            raise Fault("too-many-nodes", f"more than {NODES:,} values: not a training config", 0)
        if cursor.depth > 2 * DEPTH:  # a pair is one level of the syntax, its value another
            raise Fault("too-deep", _TOO_DEEP, 0)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _explain(text: str, error: ValueError) -> tuple[str, int]:
    """Give a message and an offset for tomllib's complaint; it counts lines by LF only."""
    reason = str(error)
    place = _PLACE.search(reason)
    at = len(text)
    if place and place[1]:
        at = 0
        for _ in range(int(place[1]) - 1):
            at = text.find("\n", at) + 1
        at += int(place[2]) - 1
    line = text[text.rfind("\n", 0, at) + 1 : at + 2]
    if "{{" in line or "{%" in line:
        return "this is a template: its {{ ... }} must be filled in before it is TOML", at
    known = next((message for start, message in _REASONS if start in reason), "")
    return known or f"not valid TOML: {_PLACE.sub('', reason).lower()}", at


def read(doc: Document) -> None:
    """Fill a document from its text. Faults become problems."""
    text = doc.text
    if len(text) > TOML_LENGTH:
        doc.fault("too-large", f"more than {TOML_LENGTH // 1024} KiB of TOML: not a training config", 0)
        return
    data = text.encode("utf-8")
    tree = Parser(Language(tree_sitter_toml.language())).parse(data).root_node
    try:
        _spend(doc, tree)
        values = tomllib.loads(text)
        builder = _Builder(doc, data)
        doc.comment_marks = [(builder.mark(start).index, builder.mark(end).index) for start, end in doc.comment_marks]
        doc.roots = [builder.build(tree, values)]
    except Fault as fault:
        doc.fault(fault.kind, fault.message, fault.at)
    except RecursionError:
        doc.fault("too-deep", _TOO_DEEP, 0)
    except ValueError as error:  # of which tomllib's own is one kind; another is an integer of too many digits
        message, at = _explain(text, error)
        kind = "control-character" if "Illegal character" in str(error) else "syntax"
        doc.fault(kind, message, at)
