"""A launcher's file that lies beside the only script of a folder: nobody names it, and it is most likely meant.

What it says is assumed, so that no finding which rests on it blocks.
"""

from __future__ import annotations

import os

from loralint.frameworks.detect import detect
from loralint.frameworks.detect import reader as reader_named
from loralint.run.build import Part, Start
from loralint.run.project import Project

# A folder with more configs than this is a collection, of which none belongs to the script.
MOST = 8


def with_neighbour(start: Start, file: str, project: Project) -> Start:
    """The start with the one accelerate file of its folder, if it is the only script there."""
    folder = os.path.dirname(os.path.realpath(file))
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return start
    scripts = [name for name in names if name.endswith((".py", ".ipynb", ".sh", ".sbatch", ".slurm"))]
    configs = [name for name in names if name.endswith((".yaml", ".yml"))]
    if len(scripts) != 1 or not 0 < len(configs) <= MOST:
        return start
    found = [path for name in configs if _is_accelerates(path := os.path.join(folder, name), project, file)]
    if len(found) != 1:
        return start
    document = project.document(found[0], project.name(found[0], file))
    return start._replace(
        parts=(*start.parts, Part("accelerate", document, reader_named("accelerate"), document, beside=True))
    )


def _is_accelerates(path: str, project: Project, near: str) -> bool:
    if not os.path.isfile(path):
        return False
    document = project.peek(path, project.name(path, near))
    found = detect(document) if document.root is not None else None
    return found is not None and found.module == "accelerate"
