"""Training starts that a notebook or a Python program launches: `!accelerate launch ...`, `subprocess.run([...])`."""

from __future__ import annotations

import copy

from loralint.frameworks.launch.programs import LAUNCHERS, TRAINERS
from loralint.run.build import Start
from loralint.run.launches import launched
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.scripts import Opened
from loralint.run.written import Written
from loralint.source.document import Document
from loralint.source.script import Script

# Without one of these a program starts nothing, and a text names no training.
_STARTING = ("subprocess", "os.system", "os.popen", "get_ipython")
_WORDS = (*LAUNCHERS, *TRAINERS, ".py")


def launching(document: Document, find: Opened) -> Script | None:
    """The program of a file that may launch trainings, None for any other file. find: as for `script_starts`."""
    text = document.text
    starting = document.format == "notebook" or any(word in text for word in _STARTING)
    if not starting or not any(word in text for word in _WORDS):
        return None
    from loralint.source.python import read_script

    return read_script(document, find)


def session_starts(script: Script, options: Options, project: Project) -> list[Start]:
    """One for each launch, in the order of the cells and of the program, with the files that are written before it."""
    from loralint.source.python.started import steps
    from loralint.source.python.written import files
    from loralint.source.shell.session import read_session

    document = _sealed(script)
    shell = read_session(document, steps(script))
    return launched(shell, Written(document, (*files(script), *shell.files), project), document, options)


def _sealed(script: Script) -> Document:
    """The file as one whose commands stand in quotes, with the lines of its cells if it is a notebook."""
    from loralint.source.python.cells import CellLines, CellPlaces

    made = copy.copy(script.document)
    made.sealed = "the command stands in a text of a program"
    if isinstance(script.places, CellPlaces):
        made.lines = CellLines(script.places)
    return made
