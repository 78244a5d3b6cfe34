"""One look at a buffer: its runs with their findings, by the settings and the files around it as they are now."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from loralint.api import make_job, options, report, use_own
from loralint.engine.lint import Job
from loralint.engine.settings import Settings, SettingsError, load_settings
from loralint.lsp.buffer import Buffer
from loralint.model import Finding, Report
from loralint.run.project import Project


class Around(NamedTuple):
    """What surrounds a buffer. root: folder that no name leads out of; texts: real path -> text of every buffer."""

    root: str
    texts: Mapping[str, str]

    def project(self) -> Project:
        """A fresh project, since each look claims files."""
        project = Project(self.root)
        project.texts = self.texts
        return project


class Judged(NamedTuple):
    """What was said of a version of a buffer. job: None where nothing could be judged: `fault` says why, and `blamed`
    which file is at fault.
    """

    buffer: Buffer
    around: Around
    job: Job | None = None
    report: Report = Report(())
    fault: str = ""
    blamed: str = ""

    @property
    def findings(self) -> list[Finding]:
        """What stands, each finding once though several runs have it."""
        found = [one for run in self.report.runs for one in run.findings if one.suppressed is None]
        return list({(one.rule, one.span, one.key, one.message): one for one in found}.values())

    @property
    def files(self) -> set[str]:
        """Real paths of the files that the runs read besides the buffer's own."""
        real = {os.path.realpath(file) for run in self.report.runs for file in run.files}
        return real - {self.buffer.real}

    def text(self, file: str) -> str:
        """The text that a file's offsets count in, empty where it is not at hand."""
        if file == self.buffer.path:
            return self.buffer.text.lstrip("\ufeff")
        return self.report.texts.get(file) or self.around.texts.get(os.path.realpath(file), "")

    def name(self, real: str) -> str:
        """What a file is called here, by its real path; empty for one that is no part of the runs."""
        if real == self.buffer.real:
            return self.buffer.path
        return next((one for run in self.report.runs for one in run.files if os.path.realpath(one) == real), "")


def judge(buffer: Buffer, around: Around) -> Judged:
    """Lint a buffer. What it holds never raises; settings that cannot be used are the fault that is told."""
    blamed = ""
    try:
        settings = load_settings(os.path.dirname(buffer.path))
        blamed = settings.file
        if _excluded(buffer, settings):
            return Judged(buffer, around)
        job = _job(settings)
    except (SettingsError, ValueError) as error:
        return Judged(buffer, around, fault=str(error), blamed=blamed or str(error).partition(": ")[0])
    return Judged(buffer, around, job, look(buffer.document().text, buffer, job, around))


def look(text: str, buffer: Buffer, job: Job, around: Around) -> Report:
    """What would be said of a buffer if this was its text."""
    if job.baseline is not None:  # judging uses its counts up
        job = job._replace(baseline=Counter(job.baseline))
    return report([buffer.document(text)], job, project=around.project(), grouped=False)


def job_of(judged: Judged) -> Job | None:
    """The job of a look, with the rules of its project in use again: another project's may have been since."""
    if judged.job is not None:
        use_own(judged.job.settings)
    return judged.job


def _job(settings: Settings) -> Job:
    job = make_job(settings, options(settings=settings), show_settings=True)._replace(count_trained=False)
    if not settings.baseline:
        return job
    from loralint.engine.baseline import read_baseline

    path = os.path.join(settings.root, settings.baseline)
    return job._replace(baseline=read_baseline(path), baseline_root=os.path.dirname(os.path.abspath(path)))


def _excluded(buffer: Buffer, settings: Settings) -> bool:
    if not settings.exclude:
        return False
    from loralint.source.walk import ignore_spec

    return ignore_spec(settings.exclude).match_file(os.path.relpath(buffer.path, settings.root))
