"""Workflows of Argo that several files make up: templates, and who calls and submits them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from loralint.frameworks.readers.kubernetes.workflows import lends, refers
from loralint.model import Note
from loralint.run.maps import beside
from loralint.run.project import Project
from loralint.run.submitted import submissions
from loralint.source.document import Document, Node
from loralint.source.joined import join
from loralint.source.shown import shown


def using(document: Document, project: Project) -> list[tuple[Document, Sequence[Node]]]:
    """The files that use the workflows of a file, each with its objects: manifests of its folder that call its
    templates, scripts that submit them.
    """
    if "rgoproj" not in document.text:
        return []
    own = lends(document)
    found = [one for one in _beside(document, own, project) if not own.isdisjoint(refers(one))] if own else []
    if found:
        project.claimed.add(os.path.realpath(document.file))  # so that none of them runs it again
    return [*((one, one.roots) for one in found), *submissions(document, project)]


def used(document: Document, using: Sequence[tuple[Document, Sequence[Node]]]) -> Document:
    """A manifest with what uses its workflows behind it."""
    if not using:
        return document
    made, moved = join(document, using)
    made.roots = [*document.roots, *(root for several in moved for root in several)]
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
