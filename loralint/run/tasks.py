"""Training starts of a file that hands commands to a cloud or to a runner: SkyPilot, Azure ML, Docker Compose ..."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from loralint.frameworks.detect import is_template_text
from loralint.frameworks.readers.kubernetes.tree import At, named
from loralint.frameworks.readers.launch.cloud import reader_of
from loralint.frameworks.task_steps import steps
from loralint.frameworks.tasks import Kind, commands_of, kind_of, scalars, units_of
from loralint.run.build import Part, Start
from loralint.run.handed import Handed
from loralint.run.launches import launched
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.written import Written
from loralint.source.document import Document, Node
from loralint.source.inner import pieces_of
from loralint.source.shell.session import read_session

# A file with more commands is a collection, of which the first ones tell what there is to tell; characters of them all,
# since an alias may have one command stand in many places.
_MOST, _LONGEST = 64, 512 * 1024
_QUOTED = "the command stands in quotes or in a list"


def task_starts(document: Document, options: Options, project: Project) -> list[Start]:
    """One for each training that a command of the file launches; none for a file of another kind."""
    if is_template_text(document.text):
        return []
    return [start for one in _units(document) for start in _of_unit(document, *one, options, project)]


def _units(document: Document) -> Iterator[tuple[Kind, Node, At]]:
    left = _LONGEST
    for root in document.roots:
        kind = kind_of(root) if root.kind == "mapping" else None
        for unit in list(units_of(kind, root))[:_MOST] if kind is not None else ():
            assert kind is not None
            left -= sum(len(one.raw) for one in scalars(commands_of(kind, unit)))
            if left > 0:
                yield kind, root, unit


def _of_unit(
    document: Document, kind: Kind, root: Node, unit: At, options: Options, project: Project
) -> Iterator[Start]:
    place = _sealed(document, kind, unit)
    shell = read_session(place, steps(document, kind, root, unit))
    asked = Part("manifest", document, reader_of(kind.name, unit), document)
    files = Handed(project, named(unit, kind.mounts)) if kind.mounts else project
    for start in launched(shell, Written(place, shell.files, files), place, options):
        yield start._replace(parts=(*start.parts, asked))


def _sealed(document: Document, kind: Kind, unit: At) -> Document:
    """The file as one in which only a script that stands line by line is edited."""
    made = copy.copy(document)
    texts = [at.node for at in commands_of(kind, unit)]
    literal = texts and all(one.kind == "scalar" and pieces_of(document.text, one)[1] for one in texts)
    made.sealed = document.sealed or ("" if literal else _QUOTED)
    return made
