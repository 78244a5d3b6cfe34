"""Files as they would be: what their runs are while fixes are tried on them, in memory only."""

from __future__ import annotations

import os
from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from loralint.engine.accept import Judged
from loralint.engine.lint import Job, lint
from loralint.model import Finding
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.read import read_bytes


class Bench:
    """The files that start runs, and what is said of them now.

    project: makes a fresh one, since each look claims files. texts: file -> its text, where that differs from what was
    read.
    """

    def __init__(self, job: Job, project: Callable[[], Project]) -> None:
        self._job = job._replace(fixes=True, show_settings=False, probe=None, data=None, count_trained=False)
        self._project = project
        self._starts: dict[str, Document] = {}
        self._judged: dict[str, list[Judged]] = {}
        self._readers: dict[str, dict[str, None]] = {}
        self._real: dict[str, str] = {}  # real path -> the same as `texts`
        self._alone: set[str] = set()
        self.texts: dict[str, str] = {}

    def put(self, documents: Iterable[Document]) -> None:
        """Look at all files once, as `check` does: one that is part of an earlier one's run starts none."""
        project = self._project()
        for document in documents:
            judged = [] if project.is_claimed(document.file) else self._lint(document, project, self._job)
            if judged:
                self._starts[document.file] = document
                self._now(document.file, judged)

    def starts(self) -> list[str]:
        """The files that start runs, in order."""
        return list(self._starts)

    def findings(self, start: str) -> Iterator[Finding]:
        """What is found in the runs of a file, each finding once."""
        found = (one for run, _ in self._judged[start] for one in run.findings)
        return iter({(one.rule, one.span, one.key, one.message): one for one in found}.values())

    def parts(self, start: str) -> dict[str, Document]:
        """The files that the runs of a file read."""
        return {part.file: part for _, parts in self._judged[start] for part in parts}

    def now(self, start: str) -> list[Judged]:
        """The runs of a file, looked at alone."""
        if start not in self._alone:
            self._alone.add(start)
            self._now(start, self.judge(start, {}))
        return self._judged[start]

    def judge(self, start: str, texts: Mapping[str, str]) -> list[Judged]:
        """The runs of a file if these were the texts."""
        project = self._project()
        tried = {os.path.realpath(file): text for file, text in texts.items()}
        project.texts = ChainMap(tried, self._real, dict(project.texts))  # an editor's files are not those on the disk
        document, text = self._starts[start], texts.get(start, self.texts.get(start))
        if text is not None:
            document = read_bytes(text.encode(), start, document.format)
        return self._lint(document, project, self._job._replace(show_settings=True))

    def keep(self, texts: Mapping[str, str], judged: Mapping[str, list[Judged]]) -> None:
        """Take new texts, and what the runs of the files became by them."""
        self.texts.update(texts)
        self._real.update((os.path.realpath(file), text) for file, text in texts.items())
        for start, now in judged.items():
            self._now(start, now)

    def readers(self, files: Iterable[str]) -> list[str]:
        """The files whose runs read any of these."""
        return list(dict.fromkeys(start for file in files for start in self._readers.get(file, ())))

    def _now(self, start: str, judged: list[Judged]) -> None:
        self._judged[start] = judged
        for file in self.parts(start):
            self._readers.setdefault(file, {})[start] = None

    @staticmethod
    def _lint(document: Document, project: Project, job: Job) -> list[Judged]:
        if job.baseline is not None:  # judging uses its counts up
            job = job._replace(baseline=Counter(job.baseline))
        return lint(document, job, project)
