"""A config as one run with the files that its `defaults` name beside it: groups of Hydra, paths of NeMo-RL."""

from __future__ import annotations

import copy
from collections.abc import Callable

from loralint.frameworks.table import Reader
from loralint.run.build import Part, Start
from loralint.source.composed import Composed, builds, compose
from loralint.source.document import Document, Mark, Node

# Whose `defaults` are paths of files, and no groups of Hydra.
_PATHS = frozenset({"nemo-rl"})


def with_defaults(start: Start, document: Document, beside: Callable[[str, str], Document | None]) -> Start:
    """The start with all that its config builds on; as it is where one of the files is not at hand. beside: gives the
    file of a path as seen from another one.
    """
    paths = start.reader.name in _PATHS
    whole = _by_path(document, beside) if paths else _by_group(document, beside)
    if whole is None:
        return start
    part, *others = start.parts
    sources = (_source(one, start.reader) for one in whole.documents)
    parts = (part._replace(document=_rooted(document, whole.root)), *others, *sources)
    modules = () if paths else tuple(one.file for one in whole.documents)  # NeMo-RL's are configs of their own
    return start._replace(parts=parts, modules=(*start.modules, *modules))


def _by_group(document: Document, beside: Callable[[str, str], Document | None]) -> Composed | None:
    return compose(document, lambda path: beside(path, document.file)) if builds(document) else None


def _by_path(document: Document, beside: Callable[[str, str], Document | None]) -> Composed | None:
    from loralint.source.inherited import inherited

    return inherited(document, beside)


def _source(document: Document, reader: Reader) -> Part:
    """A file that the config builds on: what it says stands in the config's own part, and nothing more of it counts."""
    root = Node("mapping", "map", Mark(0, document.lines), Mark(len(document.text), document.lines))
    quiet = reader._replace(keys="", observe=(), combine=None, partial=None)
    return Part("config", _rooted(document, root), quiet, document)


def _rooted(document: Document, root: Node) -> Document:
    made = copy.copy(document)
    made.roots, made._root = [root], None  # noqa: SLF001 - a copy of our own, whose root is not yet asked for
    return made
