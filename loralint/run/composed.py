"""A config of Hydra as one run with the files that its `defaults` name beside it."""

from __future__ import annotations

import copy

from loralint.frameworks.table import Reader
from loralint.run.build import Part, Start
from loralint.run.project import Project
from loralint.source.composed import builds, compose
from loralint.source.document import Document, Mark, Node

# Whose `defaults` are paths of files, and no groups of Hydra.
_PATHS = frozenset({"nemo-rl"})


def with_defaults(start: Start, document: Document, project: Project) -> Start:
    """The start with all that its config builds on; as it is where one of the files is not at hand."""
    if start.reader.name in _PATHS or not builds(document):
        return start
    whole = compose(document, lambda path: project.beside(path, document.file))
    if whole is None:
        return start
    part, *others = start.parts
    sources = (_source(one, start.reader) for one in whole.documents)
    parts = (part._replace(document=_rooted(document, whole.root)), *others, *sources)
    return start._replace(parts=parts, modules=tuple(one.file for one in whole.documents))


def _source(document: Document, reader: Reader) -> Part:
    """A file that the config builds on: what it says stands in the config's own part, and nothing more of it counts."""
    root = Node("mapping", "map", Mark(0, document.lines), Mark(len(document.text), document.lines))
    quiet = reader._replace(keys="", observe=(), combine=None, partial=None)
    return Part("config", _rooted(document, root), quiet, document)


def _rooted(document: Document, root: Node) -> Document:
    made = copy.copy(document)
    made.roots, made._root = [root], None  # noqa: SLF001 - a copy of our own, whose root is not yet asked for
    return made
