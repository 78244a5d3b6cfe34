"""Files whose root is not the config: sections that mean nothing, as in kohya's TOML, or one that holds everything."""

from __future__ import annotations

from loralint.source.document import Document, Node, Pair


def flattened(document: Document) -> Document:
    """The same text and places under one root; of a key in two sections the later counts."""
    root = document.root
    if root is None or not any(pair.value.kind == "mapping" for pair in root.pairs):
        return document
    flat = Node(root.kind, root.tag, root.start_mark, root.end_mark)
    flat.pairs = [
        inner for pair in root.pairs for inner in (pair.value.pairs if pair.value.kind == "mapping" else (pair,))
    ]
    return _rooted(document, flat)


def under(document: Document, section: str) -> Document:
    """The same text and places with one section as the root; a file without that section stays as it is."""
    inner = document.root.get(section) if document.root is not None else None
    return _rooted(document, inner) if inner is not None and inner.kind == "mapping" else document


def keyed(document: Document) -> Document:
    """A file that is a list, as a mapping with that list under an empty key."""
    root = document.roots[0] if document.roots else None
    if root is None or root.kind != "sequence":
        return document
    made = Node("mapping", "map", root.start_mark, root.end_mark)
    made.pairs = (Pair("", root, root),)
    return _rooted(document, made)


def _rooted(document: Document, root: Node) -> Document:
    made = Document(document.file, document.format, document.text)
    made.roots, made.problems, made.comment_marks = [root], document.problems, document.comment_marks
    made.scalars, made.anchors, made.sealed = document.scalars, document.anchors, document.sealed
    return made
