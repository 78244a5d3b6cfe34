"""The tree that every format is read into, with the exact place of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from loralint.model import Span
from loralint.source.lines import Lines as Lines  # noqa: PLC0414 - readers take both from here
from loralint.source.lines import Mark as Mark  # noqa: PLC0414

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    class MarkLike(Protocol):
        """A place in a text, counted from 0 in code points; PyYAML's own marks fit."""

        @property
        def index(self) -> int:
            """The offset."""

        @property
        def line(self) -> int:
            """The line."""

        @property
        def column(self) -> int:
            """The column."""


class _Unset:
    """The type of UNSET."""

    __slots__ = ()


# `Node.native` of a YAML scalar: its value depends on the loader, see scalars.value.
UNSET = _Unset()


class Node:
    """A value as it stands in the file.

    `kind` is "scalar", "mapping" or "sequence". `raw` is a scalar's content after unquoting. `tag` is what the format's
    own standard makes of it: str, int, float, bool, null, timestamp, map, seq, or "unknown" for a custom tag. `plain`
    says that the scalar is neither quoted nor tagged, so that its text alone decides. `native` is the exact value of a
    JSON or TOML scalar, UNSET in YAML. `alias` says that `*name` stands here: the span is the alias', the content (and
    the spans in it) the anchor's. An anchor (`&name`) and a collection's tag lie before the span.
    """

    __slots__ = (
        "_by_key", "alias", "end_mark", "items", "kind", "made", "native", "pairs", "plain", "raw", "start_mark", "tag"
    )  # fmt: skip

    pairs: Sequence[Pair]
    items: Sequence[Node]

    def __init__(
        self,
        kind: str,
        tag: str,
        start: MarkLike,
        end: MarkLike,
        raw: str = "",
        plain: bool = False,
        native: object = UNSET,
    ) -> None:
        self.kind = kind
        self.tag = tag
        self.start_mark = start
        self.end_mark = end
        self.raw = raw
        self.plain = plain
        self.native = native
        self.made: tuple[str, object] = ("", None)  # what `scalars` made of it, and for which dialect
        self.alias = False
        self.pairs = ()
        self.items = ()
        self._by_key: dict[str, Pair] | None = None

    def __repr__(self) -> str:
        content = repr(self.raw) if self.kind == "scalar" else f"{len(self.pairs) or len(self.items)} inside"
        return f"Node({self.kind}, {self.tag}, {content}, line {self.line})"

    @property
    def start(self) -> int:
        """Offset of the first character."""
        return self.start_mark.index

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.end_mark.index

    @property
    def line(self) -> int:
        """1-based line of the first character."""
        return self.start_mark.line + 1

    @property
    def column(self) -> int:
        """1-based column of the first character."""
        return self.start_mark.column + 1

    @property
    def end_line(self) -> int:
        """1-based line of the place after the last character."""
        return self.end_mark.line + 1

    @property
    def end_column(self) -> int:
        """1-based column of the place after the last character."""
        return self.end_mark.column + 1

    def move(self, start: MarkLike | None, end: MarkLike | None) -> None:
        """Correct the span; None keeps that side. For readers only."""
        self.start_mark = start or self.start_mark
        self.end_mark = end or self.end_mark

    def refill(self, pairs: Sequence[Pair]) -> None:
        """Put other pairs in. For readers only."""
        self.pairs = pairs
        self._by_key = None

    def pair(self, key: str) -> Pair | None:
        """Find the pair that a loader would keep: the last one of that key. To be asked once the node is complete."""
        if self._by_key is None:
            self._by_key = {pair.key: pair for pair in self.pairs}
        return self._by_key.get(key)

    def get(self, key: str) -> Node | None:
        """Find the value that a loader would keep for a key."""
        return pair.value if (pair := self.pair(key)) else None

    def duplicates(self) -> list[tuple[Pair, Pair]]:
        """List pairs whose key was already given in this mapping: (earlier, later). Merged pairs are no duplicates."""
        if len({pair.key for pair in self.pairs}) == len(self.pairs):
            return []
        seen: dict[tuple[str, str], Pair] = {}
        found = []
        for pair in self.pairs:
            if not pair.merged:
                identity = (pair.key_node.tag, pair.key)
                if identity in seen:
                    found.append((seen[identity], pair))
                seen[identity] = pair
        return found


class Pair(NamedTuple):
    """One entry of a mapping. `key` is the key's text, also where a loader makes a number or a boolean of it."""

    key: str
    key_node: Node
    value: Node
    merged: bool = False


class Fault(Exception):  # noqa: N818 - it is what is wrong with a file, not with the program
    """Reading cannot go on; a reader turns it into a Problem at this offset."""

    def __init__(self, kind: str, message: str, at: int) -> None:
        super().__init__(kind, message, at)
        self.kind = kind
        self.message = message
        self.at = at


class Problem(NamedTuple):
    """Why a file could not be read, or not wholly.

    `kind`: unreadable, too-large, encoding, syntax, too-deep, too-many-nodes, too-many-aliases, cyclic or
    control-character.
    """

    kind: str
    message: str
    span: Span


class Comment(NamedTuple):
    """A comment without its `#`; the offsets cover the `#`."""

    text: str
    line: int
    column: int
    start: int
    end: int
    own_line: bool


class Document:
    """One file's tree. With problems, `roots` holds only the documents that were complete before the fault.

    `scalars` (YAML) are all scalars as they stand in the text, aliases not among them; `comment_marks` (TOML) the
    offsets of the comments; `anchors` (YAML) the offsets of all anchors. They serve comments() and the edits.
    `sealed` says why nothing in it can be edited by span, "" where it can.
    """

    __slots__ = (
        "_comments", "_root", "anchors", "comment_marks", "file", "format", "lines", "problems", "roots", "scalars",
        "sealed", "text"
    )  # fmt: skip

    def __init__(self, file: str, format: str, text: str) -> None:  # noqa: A002 - the interface's name
        self.file = file
        self.format = format
        self.text = text
        self.roots: list[Node] = []
        self.problems: list[Problem] = []
        self.lines = Lines(text)
        self.scalars: list[Node] = []
        self.comment_marks: list[tuple[int, int]] = []
        self.anchors: list[int] = []
        self.sealed = ""
        self._comments: list[Comment] | None = None
        self._root: Node | None = None

    @property
    def root(self) -> Node | None:
        """The first document that is a mapping."""
        if self._root is None and self.roots:
            self._root = next((node for node in self.roots if node.kind == "mapping"), None)
        return self._root

    @property
    def newline(self) -> str:
        """The line break this file uses."""
        at = self.text.find("\n")
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    @property
    def name(self) -> str:
        """What the file is called; of a text inside another file, what it is called there."""
        return self.file

    @property
    def own(self) -> str:
        """The text that was read; of a text inside another file only that."""
        return self.text

    def span(self, node: Node) -> Span:
        """Give a node's place as the model's record."""
        start, end = node.start_mark, node.end_mark
        if type(start) is type(end) is Mark:
            return start.until(end, self.file)
        cell = getattr(start, "cell", None)  # only places in a notebook know one
        origin, first = self.lines.origin(start.index)
        file = getattr(start, "file", origin or self.file)  # what a program loads stands in another file
        last = first + end.index - start.index
        return Span(file, first, last, start.line + 1, start.column + 1, end.line + 1, end.column + 1, cell)

    def written(self, node: Node) -> str:
        """Give a node as it is written."""
        text: str = getattr(node.start_mark, "text", self.text)
        return text[node.start : node.end]

    def span_at(self, start: int, end: int) -> Span:
        """Give any range of the text as the model's record."""
        return self.lines.span(self.file, start, end)

    def fault(self, kind: str, message: str, start: int, end: int | None = None) -> None:
        """Add a problem at a place; without `end` it covers one character."""
        start = min(start, len(self.text))
        end = min(start + 1, len(self.text)) if end is None else end
        self.problems.append(Problem(kind, message, self.span_at(start, end)))

    def keep_comments(self, comments: Iterable[Comment]) -> None:
        """Say what the comments are, for a text that cannot be looked through for them. For readers only."""
        self._comments = list(comments)

    def comments(self) -> list[Comment]:
        """List all comments in order, found when first asked for. Empty for a YAML file that does not parse."""
        if self._comments is None:
            from loralint.source.comments import find

            self._comments = find(self)
        return self._comments
