"""Training starts that a program hands to SageMaker: the script of each job with its hyperparameters as flags."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from loralint.frameworks.python.estimator_machines import machines, reader_of
from loralint.frameworks.python.estimators import Job, jobs, released, steps
from loralint.run.build import Part, Start
from loralint.run.launches import launched
from loralint.run.options import Options
from loralint.run.pins import pins_near
from loralint.run.project import Project
from loralint.run.written import Written
from loralint.source.document import Document
from loralint.source.script import Script
from loralint.source.shell.session import read_session

_REQUIREMENTS = "requirements.txt"


class _Sent:
    """The files of the folder that a job is sent."""

    def __init__(self, project: Project, folder: str) -> None:
        self._project = project
        self._folder = folder
        self.module, self.beside, self.document = project.module, project.beside, project.document

    def find(self, name: str, near: str) -> Document | None:
        """The file that the job means by `name`."""
        return self._project.find(posixpath.join(self._folder, name), near)


def estimator_starts(script: Script, document: Document, options: Options, project: Project) -> list[Start]:
    """One for each job of the program. document: its file as one whose commands stand in texts."""
    found: list[Start] = []
    for job in jobs(script):
        files = _Sent(project, job.folder)
        shell = read_session(document, steps(script, job))
        asked = Part("manifest", machines(document, job), reader_of(job), document)
        for start in launched(shell, Written(document, (), files), document, options):
            pins = {**_pins(job, start, files, project), **start.pins}
            found.append(start._replace(parts=(*start.parts, asked), pins=pins))
    return found


def _pins(job: Job, start: Start, files: _Sent, project: Project) -> Mapping[str, str]:
    """The versions of the image, and those that the folder's own list installs over them."""
    program = next((part.source.file for part in start.parts if part.kind == "script"), "")
    listed = files.find(_REQUIREMENTS, start.parts[0].source.file)
    said = listed.text if listed is not None else ""
    return {
        **{name: version for name, version in released(job).items() if name not in said},
        **(pins_near(program, project) if program else {}),
    }
