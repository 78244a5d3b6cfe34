"""Training starts that a notebook or a Python program launches: `!accelerate launch ...`, `subprocess.run([...])`."""

from __future__ import annotations

import copy
import re
from functools import cache

from loralint.frameworks.launch.programs import LAUNCHERS, TRAINERS
from loralint.run.build import Start
from loralint.run.launches import launched
from loralint.run.on_modal import on_modal
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.scripts import Imported, Opened, is_test
from loralint.run.written import Written
from loralint.source.document import Document
from loralint.source.script import Script

# Without one of these a program starts nothing.
_STARTING = ("subprocess", "os.system", "os.popen", "get_ipython")
# What the jobs of SageMaker call the program that they run; see `frameworks.python.estimators`.
_HANDED = ("entry_point", "entry_script", "SourceCode")


# Python itself starts a training only where a script is named too.
_SCRIPT = re.compile(
    r"""["'!](?:[\w/.]{0,200}/)?python[\d.]{0,9}["'\s\\]|^[ \t]*python[\d.]{0,9} +\S|sys\.executable""", re.MULTILINE
)


@cache
def _trainer() -> re.Pattern[str]:
    """A program that trains, where a text of the program or a line of one starts, behind variables at most."""
    names = "|".join(map(re.escape, (*LAUNCHERS, *TRAINERS)))
    before = r"(?:\w{1,60}=\S{0,80}[ \t]+){0,8}(?:[\w.~-]{0,60}/){0,16}"
    return re.compile(
        rf"""["'!]{before}(?:{names})(?=["'\s\\])|^[ \t]*(?:{names})[ \t]+\S""",
        re.MULTILINE,
    )


def _names_training(text: str) -> bool:
    return _trainer().search(text) is not None or (".py" in text and _SCRIPT.search(text) is not None)


def _hands_in(text: str) -> bool:
    """Whether a program may hand jobs to SageMaker."""
    return "sagemaker" in text and any(word in text for word in _HANDED)


def launching(document: Document, find: Opened, imported: Imported | None = None) -> Script | None:
    """The program of a file that may launch trainings, None for any other file.

    find, imported: as for `script_starts`.
    """
    text = document.text
    starting = document.format == "notebook" or any(word in text for word in _STARTING)
    if is_test(document) or not (_hands_in(text) or (starting and _names_training(text))):
        return None
    from loralint.source.python import read_script

    return read_script(document, find, imported)


def session_starts(script: Script, options: Options, project: Project) -> list[Start]:
    """One for each launch, in the order of the cells and of the program, with the files that are written before it."""
    from loralint.source.python.started import steps
    from loralint.source.python.written import files
    from loralint.source.shell.session import read_session

    document = _sealed(script)
    shell = read_session(document, steps(script))
    found = launched(shell, Written(document, (*files(script), *shell.files), project), document, options)
    if _hands_in(document.text):
        from loralint.run.estimators import estimator_starts

        found += estimator_starts(script, document, options, project)
    return on_modal(found, script)


def _sealed(script: Script) -> Document:
    """The file as one whose commands stand in quotes, with the lines of its cells if it is a notebook."""
    from loralint.source.python.cells import CellLines, CellPlaces

    made = copy.copy(script.document)
    made.sealed = "the command stands in a text of a program"
    if isinstance(script.places, CellPlaces):
        made.lines = CellLines(script.places)
    return made
