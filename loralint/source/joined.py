"""Files laid over one another, read as one text: offsets go on from file to file, places are those of each file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from loralint.source.document import Document, Mark, Node
from loralint.source.lines import Lines

_SEALED = "a patch is laid over it"


class JoinedLines(Lines):
    """The lines of several files behind one another."""

    __slots__ = ("_files", "_firsts")

    def __init__(self, documents: Sequence[Document]) -> None:
        super().__init__("\n".join(one.text for one in documents))
        self._files = [one.file for one in documents]
        self._firsts = [0]
        for one in documents[:-1]:
            self._firsts.append(self._firsts[-1] + len(one.text) + 1)

    def first(self, index: int) -> int:
        """Give the offset at which a file begins."""
        return self._firsts[index]

    def place(self, offset: int) -> tuple[int, int]:
        """Give the 1-based line and column of an offset, in its file."""
        line, column = super().place(offset)
        begins = self._firsts[bisect_right(self._firsts, offset) - 1]
        return line - super().place(begins)[0] + 1, column

    def origin(self, offset: int) -> tuple[str, int]:
        """Give the file that an offset lies in, and the offset there."""
        index = bisect_right(self._firsts, offset) - 1
        return self._files[index], offset - self._firsts[index]


class JoinedDocument(Document):
    """A document over which others lie. first: it alone, whose name and comments these are."""

    __slots__ = ("first", "joined")

    def __init__(self, documents: Sequence[Document]) -> None:
        self.first = documents[0]
        self.joined = JoinedLines(documents)
        super().__init__(self.first.file, self.first.format, self.joined.text)
        self.lines = self.joined
        self.sealed = _SEALED
        self.keep_comments(self.first.comments())


def join(first: Document, laid: Sequence[tuple[Document, Sequence[Node]]]) -> tuple[JoinedDocument, list[list[Node]]]:
    """A document with others over it, without roots yet; and nodes of each of the others at their places in it."""
    made = JoinedDocument([first, *(document for document, _ in laid)])
    lines = made.joined
    return made, [
        [_moved(node, lines.first(index), lines, {}) for node in nodes] for index, (_, nodes) in enumerate(laid, 1)
    ]


def source_of(document: Document) -> Document:
    """The file that a document is, without what lies over it."""
    return document.first if isinstance(document, JoinedDocument) else document


def _moved(node: Node, by: int, lines: Lines, seen: dict[int, Node]) -> Node:
    """A copy that stands further on; what stands twice by an alias is copied once."""
    found = seen.get(id(node))
    if found is not None:
        return found
    marks = Mark(node.start + by, lines), Mark(node.end + by, lines)
    made = seen[id(node)] = Node(node.kind, node.tag, *marks, node.raw, node.plain, node.native)
    made.alias = node.alias
    made.refill(
        [
            pair._replace(key_node=_moved(pair.key_node, by, lines, seen), value=_moved(pair.value, by, lines, seen))
            for pair in node.pairs
        ]
    )
    made.items = [_moved(one, by, lines, seen) for one in node.items]
    return made
