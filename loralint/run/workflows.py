"""Workflows of Argo that stand in several files of a folder: templates, and who calls them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.workflows import lends, refers
from loralint.model import Note
from loralint.run.maps import beside
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.joined import join
from loralint.source.shown import shown


def callers(document: Document, project: Project) -> list[Document]:
    """The manifests of the folder whose workflows use the templates of a file."""
    own = lends(document)
    return [one for one in _beside(document, own, project) if not own.isdisjoint(refers(one))] if own else []


def with_callers(document: Document, callers: list[Document], project: Project) -> Document:
    """A manifest with the workflows that use its templates behind it."""
    if not callers:
        return document
    made, moved = join(document, [(one, one.roots) for one in callers])
    made.roots = [*document.roots, *(root for several in moved for root in several)]
    project.claimed.add(os.path.realpath(document.file))  # so that none of them runs it again
    return made


def templates_beside(document: Document, project: Project) -> tuple[list[Document], list[Note]]:
    """The manifests of the folder whose templates the workflows of a file use, and what is to be said of others."""
    wanted = refers(document) - lends(document)
    found = [one for one in _beside(document, wanted, project) if not wanted.isdisjoint(lends(one))] if wanted else []
    missing = wanted.difference(*(lends(one) for one in found))
    said = "what the templates of `{}` run: no manifest of the folder holds it"
    return found, [Note("not-checked", said.format(shown(name))) for name in sorted(missing)]


def _beside(document: Document, names: frozenset[str], project: Project) -> Iterator[Document]:
    several = (one for one in beside(document, project) if not names.isdisjoint(one.names))
    return (one for each in several if not (one := project.peek(each.path, each.shown)).problems)
