"""A text inside another file, such as a config or a script in a scalar of a manifest: its places are the file's.

Such a text is read like any file, and then every node is moved to where it stands. Edits are made only where the text
stands in the file line by line, as in a literal block of YAML.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from loralint.source.document import Comment, Document, Lines, Mark, Problem
from loralint.source.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loralint.model import Span
    from loralint.source.command import Part
    from loralint.source.document import MarkLike, Node

_STYLE = re.compile(r"(?:[!&]\S+[ \t]+)*([|>\"']?)")
# Of a text in double quotes: an escape, a line break that folds, blanks, and all else.
_TOKEN = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}"
    r"|\r?\n[ \t]*|.)|[ \t]*(?:\r?\n[ \t]*)+|[ \t]+|[^\\\s]+"
)
_SEALED = "the text stands in quotes or is folded, so its lines are no lines of the file"


class Piece(NamedTuple):
    """A stretch that stands in the file as it is. at: its offset in the text; start: in the file."""

    at: int
    start: int
    length: int


class InnerPlaces(Places):
    """The places of a text of which pieces stand in a file; what lies between them is at the end of the one before."""

    __slots__ = ("_ats", "pieces")

    def __init__(self, file: str, lines: Lines, pieces: list[Piece]) -> None:
        super().__init__(file, lines)
        self.pieces = pieces
        self._ats = [piece.at for piece in pieces]

    def offset(self, at: int) -> int:
        """Give the offset in the file of one in the text."""
        piece = self.pieces[max(bisect_right(self._ats, at) - 1, 0)]
        return piece.start + min(max(at - piece.at, 0), piece.length)

    def end(self, at: int) -> int:
        """Give the offset behind the character before `at`, which another line may follow."""
        return self.offset(at - 1) + 1 if at else self.offset(at)

    def mark(self, offset: int) -> MarkLike:
        """Give the place of an offset for a Node."""
        return Mark(self.offset(offset), self.lines)

    def span(self, start: int, end: int) -> Span:
        """Give a range as the model's record."""
        first = self.offset(start)
        return super().span(first, max(self.end(end) if end > start else first, first))

    def parts(self, text: str, start: int) -> list[Part]:
        """Give a text that stands from `start` on in parts, a line at a time."""
        found: list[Part] = []
        at = start
        for line in text.splitlines(keepends=True):
            found += super().parts(line, self.offset(at))
            at += len(line)
        return found


class InnerDocument(Document):
    """A text inside another file, as a document of that file. places: where it stands."""

    __slots__ = ("_name", "_own", "places")

    def __init__(self, outer: Document, name: str, parsed: Document, places: InnerPlaces) -> None:
        super().__init__(outer.file, parsed.format, outer.text)
        self.lines = outer.lines
        self._name = name
        self._own = parsed.text
        self.places = places

    @property
    def name(self) -> str:
        """What the text is called where it is read, such as a key of a ConfigMap."""
        return self._name

    @property
    def own(self) -> str:
        """The text itself."""
        return self._own


def pieces_of(text: str, node: Node) -> tuple[list[Piece], bool]:
    """The pieces of a scalar's content in the text of its file, and whether that is line by line."""
    match = _STYLE.match(text, node.start)
    style = match[1] if match is not None and match.end() <= node.end else ""
    found: list[Piece] = []
    if style == "|":
        found = _lines(text, node)
        if found:
            return found, True
    elif style in ('"', "'"):
        found = list(_quoted(text, node, style))
    else:
        found = list(_words(text, node))
    return found or [Piece(0, node.start, 0)], False


def _lines(text: str, node: Node) -> list[Piece]:
    """The lines of a literal block, each behind its indentation; none where they do not agree."""
    found: list[Piece] = []
    at, start = 0, text.find("\n", node.start) + 1
    if not start:
        return []
    indent = -1
    for line in node.raw.split("\n"):
        if at == len(node.raw):
            break
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        written = text[start:end].removesuffix("\r")
        if line and indent < 0:
            indent = len(written) - len(line)
        if line and (written[indent:] != line or written[:indent].strip(" ")):
            return []
        found.append(Piece(at, start + len(written) - len(line), len(line) + 1))
        at += len(line) + 1
        start = end + 1
    return found


def _quoted(text: str, node: Node, quote: str) -> Iterator[Piece]:
    """The stretches of a text in quotes between its escapes and folds, as far as they agree."""
    at, raw, escapes = 0, node.raw, quote == '"'
    for match in _TOKEN.finditer(text, node.start + 1, node.end - 1):
        token = match[0]
        if token[0] == "\\" and escapes:
            length = 0 if "\n" in token else 1
        elif "\n" in token:
            length = max(1, token.count("\n") - 1)
        else:
            plain = token if escapes else token.replace("''", "'")
            if raw[at : at + len(plain)] != plain:
                return
            length = len(plain)
        if length:
            yield Piece(at, match.start(), length)
        at += length


def _words(text: str, node: Node) -> Iterator[Piece]:
    """The words of a plain or a folded text, whatever blanks and breaks lie between, as far as they agree."""
    start = text.find("\n", node.start) + 1 if text[node.start : node.start + 1] == ">" else node.start
    for match in re.finditer(r"\S+", node.raw):
        found = text.find(match[0], start, node.end)
        if found < 0 or text[start:found].strip():
            return
        yield Piece(match.start(), found, len(match[0]))
        start = found + len(match[0])


def read_inner(outer: Document, node: Node, name: str) -> InnerDocument:
    """Read the text of a scalar as the file that it becomes, with every place in the outer file.

    name: the file's, whose suffix says its format. Faults become problems, at their places.
    """
    pieces, exact = pieces_of(outer.text, node)
    made = read_pieces(outer, node.raw, pieces, name)
    made.sealed = outer.sealed or ("" if exact and not node.alias else _SEALED)
    return made


def read_pieces(outer: Document, text: str, pieces: list[Piece], name: str) -> InnerDocument:
    """Read a text of which pieces stand in a file; it is edited nowhere."""
    from loralint.source.read import read_text

    body = text.lstrip("\ufeff")  # libyaml does not count a byte order mark
    if body != text:
        pieces = list(_behind(len(text) - len(body), pieces)) or pieces
    parsed = read_text(body, name)
    return placed(InnerDocument(outer, name, parsed, InnerPlaces(outer.file, outer.lines, pieces)), parsed)


def _behind(cut: int, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a text whose first characters are left out."""
    for one in pieces:
        lost = max(cut - one.at, 0)
        if lost < one.length:
            yield Piece(one.at + lost - cut, one.start + lost, one.length - lost)


def placed(made: InnerDocument, parsed: Document) -> InnerDocument:
    """Take over what was read, each node and comment at its place in the outer file."""
    places = made.places
    made.sealed = _SEALED
    comments = parsed.comments() if "loralint" in parsed.text else []
    _move(parsed.roots, places)
    made.roots, made.scalars = parsed.roots, parsed.scalars
    made.anchors = [places.offset(at) for at in parsed.anchors]
    made.problems = [
        Problem(one.kind, one.message, places.span(one.span.start, one.span.end)) for one in parsed.problems
    ]
    made.keep_comments(_moved(comments, places))
    return made


def _moved(comments: Iterable[Comment], places: InnerPlaces) -> Iterator[Comment]:
    for one in comments:
        start, end = places.offset(one.start), places.end(one.end)
        yield Comment(one.text, *places.lines.place(start), start, end, one.own_line)


def _move(roots: Iterable[Node], places: InnerPlaces) -> None:
    """Move each node once; what an alias names has been moved at its anchor."""
    for node in every(roots):
        start, end = node.start, node.end
        first = places.offset(start)
        last = max(places.end(end) if end > start else first, first)
        node.move(Mark(first, places.lines), Mark(last, places.lines))


def every(roots: Iterable[Node]) -> Iterator[Node]:
    """Every node once."""
    seen: set[int] = set()
    queue = list(roots)
    while queue:
        node = queue.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        queue += node.items
        for pair in node.pairs:
            queue += (pair.key_node, pair.value)
