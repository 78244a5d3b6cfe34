"""YAML to nodes, from the C parser's events.

Events rather than PyYAML's composed nodes: a budget can stop the parser before a tree is in memory, nothing recurses,
and no custom tag can construct anything. Semantics are the SafeLoader's, duplicate anchors and merge keys included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from loralint.source.document import Fault, Mark, Node, Pair
from loralint.source.limits import DEPTH, DIRECTIVES, EXPANDED, NODES
from loralint.source.scalars import resolve
from loralint.source.yaml_spans import BLOCK_STYLES, collection_start, empty_value, scalar_span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loralint.source.document import Document

try:
    from yaml import CSafeLoader as _Parser
except ImportError:  # a build of PyYAML without libyaml: 15 times slower, same result
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

_TAGS = {
    f"tag:yaml.org,2002:{tag}": tag
    for tag in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq", "merge")
}
_TOO_DEEP = f"nested more than {DEPTH} levels deep"
# Tags that have a meaning for keys only: `<<` and `=`.
_KEY_TAGS = {"merge", "value"}
# libyaml counts these as line breaks and an editor does not: then its line numbers cannot be used.
_OTHER_BREAKS = ("\x85", "\u2028", "\u2029")


class _Open:
    """A collection whose end has not been met. `height` is that of the tallest child."""

    __slots__ = ("anchor", "before", "children", "height", "node")

    def __init__(self, node: Node | None, anchor: str | None, before: int) -> None:
        self.node = node
        self.anchor = anchor
        self.before = before
        self.children: list[Node] = []
        self.height = 0

    def expects_key(self) -> bool:
        """Whether the next child is a mapping's key."""
        return self.node is not None and self.node.kind == "mapping" and len(self.children) % 2 == 0


class _Builder:
    """The state of one reading: open collections, anchors and what has been spent.

    Events are Any because PyYAML's stubs make every mark optional, which from this parser it never is.
    """

    def __init__(self, doc: Document) -> None:
        self.doc = doc
        self.text = doc.text
        self.top = _Open(None, None, 0)
        self.stack = [self.top]
        # name -> node, expanded size, height; a size of 0 means that the node is still open
        self.anchors: dict[str, tuple[Node, int, int]] = {}
        self.scalars = doc.scalars
        self.others = 0  # collections and aliases
        self.borrowed = 0  # what the aliases expand to
        self.remark = not doc.text.isascii() and any(one in doc.text for one in _OTHER_BREAKS)

    def build(self) -> None:
        """Consume all events; complete documents go to `doc.roots`."""
        get = _Parser(self.text).get_event
        while (event := get()) is not None:
            kind = type(event)
            if kind is ScalarEvent:
                self.scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self.open(event, "mapping" if kind is MappingStartEvent else "sequence")
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self.close(event)
            elif kind is AliasEvent:
                self.alias(event)
            elif kind is DocumentEndEvent:
                self.doc.roots += self.top.children
            elif kind is DocumentStartEvent:
                self.anchors = {}
                self.top = _Open(None, None, 0)
                self.stack = [self.top]

    def scalar(self, event: Any) -> None:
        raw = event.value
        style = event.style
        tag = event.tag
        plain = not style and tag is None
        if plain:
            tag = resolve(raw)
        elif tag is None:
            tag = "str"
        elif tag == "!":
            tag = resolve(raw) if event.implicit[0] else "str"
        else:
            tag = _TAGS.get(tag, "unknown")
        frame = self.stack[-1]
        if tag in _KEY_TAGS and not frame.expects_key():
            tag = "unknown"
        node = Node("scalar", tag, event.start_mark, event.end_mark, raw, plain)
        frame.children.append(node)
        self.scalars.append(node)
        if event.anchor is not None:
            self.name(event, node, 1)
        if style in BLOCK_STYLES or self.remark or event.anchor is not None:
            self.place(node, *scalar_span(self.text, event))
        if len(self.scalars) + self.others > NODES:
            self.spend(node)

    def open(self, event: Any, kind: str) -> None:
        tag = "map" if kind == "mapping" else "seq"
        if event.tag is not None and event.tag != "!":
            tag = _TAGS.get(event.tag, "unknown")
        start = event.start_mark
        if event.anchor is not None or event.tag is not None or self.remark:
            start = Mark(collection_start(self.text, event), self.doc.lines)
        node = Node(kind, tag, start, event.end_mark)
        frame = _Open(node, event.anchor, self.expanded())
        self.others += 1
        self.spend(node)
        if event.anchor is not None:
            self.name(event, node, 0)
        self.stack.append(frame)
        if len(self.stack) - 1 > DEPTH:
            self.too_deep(node)

    def close(self, event: Any) -> None:
        frame = self.stack.pop()
        node, children = frame.node, frame.children
        if node is None:  # pragma: no cover - the parser pairs starts with ends
            return
        if node.kind == "mapping":
            node.pairs = self.pairs(children)
        else:
            node.items = children
        if event.start_mark.index == event.end_mark.index:  # block style: the event lies at the next token
            node.end_mark = children[-1].end_mark if children else node.start_mark
        else:
            node.end_mark = event.end_mark
            if self.remark:
                self.place(node, node.start, node.end)
        height = frame.height + 1
        parent = self.stack[-1]
        parent.height = max(parent.height, height)
        parent.children.append(node)
        if frame.anchor is not None:
            self.anchors[frame.anchor] = (node, self.expanded() - frame.before, height)

    def alias(self, event: Any) -> None:
        at = event.start_mark.index
        if event.anchor not in self.anchors:
            raise Fault("syntax", f"the alias `*{event.anchor}` names no anchor above it", at)
        target, size, height = self.anchors[event.anchor]
        if not size:
            raise Fault("cyclic", f"the alias `*{event.anchor}` lies inside the value that it names", at)
        node = Node(target.kind, target.tag, event.start_mark, event.end_mark, target.raw, target.plain)
        node.pairs, node.items, node.alias = target.pairs, target.items, True
        if self.remark:
            self.place(node, node.start, node.end)
        self.others += 1
        self.borrowed += size
        self.spend(node)
        frame = self.stack[-1]
        frame.height = max(frame.height, height)
        frame.children.append(node)
        if len(self.stack) - 1 + height > DEPTH:
            self.too_deep(node)

    def name(self, event: Any, node: Node, size: int) -> None:
        """Remember an anchor. PyYAML refuses a second one of the same name, though YAML allows it."""
        name = event.anchor
        self.doc.anchors.append(event.start_mark.index)
        if name in self.anchors:
            raise Fault("syntax", f"the anchor `&{name}` is defined twice", event.start_mark.index)
        self.anchors[name] = (node, size, 0)

    def expanded(self) -> int:
        """How many nodes a walk by path has met so far."""
        return len(self.scalars) + self.others + self.borrowed

    def spend(self, node: Node) -> None:
        """Stop when this node is one too many."""
        if len(self.scalars) + self.others > NODES:
            raise Fault("too-many-nodes", f"more than {NODES:,} values: not a training config", node.start)
        if self.expanded() > EXPANDED:
            raise Fault("too-many-aliases", f"the aliases expand to more than {EXPANDED:,} values", node.start)

    def too_deep(self, node: Node) -> None:
        raise Fault("too-deep", _TOO_DEEP, node.start)

    def bracket(self) -> int | None:
        """Where the innermost collection that is still open starts, if it is in brackets."""
        node = self.stack[-1].node
        return node.start if node and self.text[node.start : node.start + 1] in {"[", "{"} else None

    def place(self, node: Node, start: int, end: int) -> None:
        """Correct a node's span."""
        node.move(Mark(start, self.doc.lines), Mark(end, self.doc.lines))

    def pairs(self, children: list[Node]) -> Sequence[Pair]:
        """Keys with values; merge keys are replaced by what they bring."""
        merges = []
        pairs = []
        flat = iter(children)
        for key, value in zip(flat, flat, strict=True):
            if key.tag == "merge":
                merges.append(value)
                continue
            if key.kind != "scalar":
                self.complex_key(key)
                pairs.append(Pair(self.text[key.start : key.end], key, value))
                continue
            if key.tag == "value":
                key.tag = "str"
            if value.tag == "null" and value.start == value.end and self.text[value.start - 1] != ":":
                # libyaml puts a value that is not there at whatever comes next
                self.place(value, *[empty_value(self.text, key.end)] * 2)
            pairs.append(Pair(key.raw, key, value))
        return self.merged(merges, pairs) + pairs if merges else pairs

    def merged(self, merges: list[Node], pairs: list[Pair]) -> list[Pair]:
        """Pairs that `<<` adds: explicit keys win, a later `<<` over an earlier one, in a list the earlier mapping."""
        explicit = {(pair.key_node.tag, pair.key) for pair in pairs}
        found: dict[tuple[str, str], Pair] = {}
        for merge in merges:
            sources = [merge] if merge.kind == "mapping" else list(reversed(merge.items))
            if merge.kind == "scalar" or any(source.kind != "mapping" for source in sources):
                self.doc.fault("syntax", "`<<` takes a mapping or a list of mappings", merge.start, merge.end)
                continue
            for source in sources:
                for pair in source.pairs:
                    identity = (pair.key_node.tag, pair.key)
                    if identity not in explicit:
                        found[identity] = Pair(pair.key, pair.key_node, pair.value, merged=True)
        return list(found.values())

    def complex_key(self, key: Node) -> None:
        """Refuse a collection as a key: it parses, but every Python loader fails on it. Mostly it is a template."""
        if any(problem.kind == "syntax" for problem in self.doc.problems):
            return
        if self.text[key.start - 1 : key.start + 1] == "{{":
            message = "this is a template: its {{ ... }} must be filled in before it is YAML"
        else:
            message = "a mapping or a list cannot be a key; put it in quotes"
        self.doc.fault("syntax", message, key.start, key.end)


def read(doc: Document) -> None:
    """Fill a document from its text. Faults become problems."""
    if doc.text.count("%TAG") > DIRECTIVES:
        doc.fault("too-many-nodes", f"more than {DIRECTIVES} %TAG directives", doc.text.find("%TAG"))
        return
    builder = _Builder(doc)
    try:
        builder.build()
    except Fault as fault:
        doc.fault(fault.kind, fault.message, fault.at)
    except yaml.MarkedYAMLError as error:
        from loralint.source.yaml_faults import explain

        if "nesting depth" in (error.problem or ""):  # libyaml's own limit; it reads ahead of its events
            doc.fault("too-deep", _TOO_DEEP, error.problem_mark.index if error.problem_mark else 0)
        elif not doc.problems:  # else a template's braces were already met
            doc.fault("syntax", *explain(doc.text, error, builder.bracket()))
    except UnicodeEncodeError as error:  # half of a pair of surrogates, as JSON around the text can hold it
        doc.fault("control-character", f"half a character, U+{ord(doc.text[error.start]):04X}, is no text", error.start)
    except yaml.YAMLError:
        from loralint.source.yaml_faults import FORBIDDEN

        bad = FORBIDDEN.search(doc.text)
        at = bad.start() if bad else 0
        name = f"U+{ord(bad[0]):04X}" if bad else "of an unknown kind"
        doc.fault("control-character", f"the control character {name} is not allowed in YAML", at)
