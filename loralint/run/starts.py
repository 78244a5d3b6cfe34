"""From one file to the runs that it starts, each with all that it reads."""

from __future__ import annotations

from loralint.run.assemble import assemble
from loralint.run.build import Assembled
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.source.document import Document


def starts(document: Document, options: Options, project: Project) -> list[Assembled]:
    """The runs that this file starts: one for a config, one for each launch of a script, none for anything else."""
    del project
    found = assemble(document, options)
    return [found] if found is not None else []
