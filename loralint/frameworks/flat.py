"""Files whose sections mean nothing: kohya's trainers read every `[section]` of a TOML file into one flat namespace."""

from __future__ import annotations

from loralint.source.document import Document, Node


def flattened(document: Document) -> Document:
    """The same text and places under one root; of a key in two sections the later counts."""
    root = document.root
    if root is None or not any(pair.value.kind == "mapping" for pair in root.pairs):
        return document
    flat = Node(root.kind, root.tag, root.start_mark, root.end_mark)
    flat.pairs = [
        inner for pair in root.pairs for inner in (pair.value.pairs if pair.value.kind == "mapping" else (pair,))
    ]
    made = Document(document.file, document.format, document.text)
    made.roots, made.problems, made.comment_marks = [flat], document.problems, document.comment_marks
    return made
