"""Fixes made in memory: pass after pass until nothing changes, each judged before it is kept."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from loralint.engine.accept import fault_of
from loralint.engine.apply import Chosen, all_edits, choose
from loralint.engine.bench import Bench
from loralint.engine.lint import Job
from loralint.model import Edit, Finding
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.edit import apply
from loralint.source.lines import Lines

# Tries for the runs of one file, and rounds over all files; what needs more is no config that anybody trains with.
_TRIES = 200
_ROUNDS = 5
_MORE = "the file needs more fixes than are made in one go; run --fix again"

_Identity = tuple[object, ...]


class Change(NamedTuple):
    """One fix in one file. before, after: the lines that it meets, as they were and as they became."""

    file: str
    rule: str
    name: str
    tier: str
    key: str
    line: int
    cell: int | None
    before: str
    after: str


class Refused(NamedTuple):
    """A fix that was not made, and why."""

    finding: Finding
    reason: str


class Mended(NamedTuple):
    """before, texts: file -> its text as read and after all fixes, of those that change.

    unsafe: how many more fixes there are that nobody asked for.
    """

    before: dict[str, str]
    texts: dict[str, str]
    changes: tuple[Change, ...]
    refused: tuple[Refused, ...]
    unsafe: int


def _no_file(file: str) -> str:
    return "" if os.path.isfile(file) else "it is no file"


def mend(
    documents: Iterable[Document],
    job: Job,
    project: Callable[[], Project],
    *,
    unsafe: bool = False,
    barred: Callable[[str], str] = _no_file,
    only: Callable[[Finding], bool] = lambda _: True,
) -> Mended:
    """What the safe fixes make of these files and of those that their runs read; nothing is written.

    project: makes a fresh one for every look. unsafe: make those fixes too. barred: why a file cannot be written, ""
    if it can; asked once. only: which findings to fix; all that the job finds speak of what a fix does. What a comment,
    the settings or a baseline lifts is not fixed.
    """
    bench = Bench(job, project)
    bench.put(documents)
    made = _Made(bench, unsafe, cache(barred), only)
    for _ in range(_ROUNDS):
        count = len(made.changes)
        for start in bench.starts():
            made.mend(start)
        if len(made.changes) == count:
            break
    return made.mended()


class _Made:
    """The fixes made so far on a bench, and those refused since the last one that was made."""

    def __init__(
        self, bench: Bench, unsafe: bool, barred: Callable[[str], str], only: Callable[[Finding], bool]
    ) -> None:
        self.bench = bench
        self.only = only
        self.unsafe = unsafe
        self.barred = barred
        self.before: dict[str, str] = {}
        self.changes: list[Change] = []
        self.refused: dict[_Identity, Refused] = {}
        self.seen: dict[str, set[str]] = {}
        self.tries: Counter[str] = Counter()

    def mend(self, start: str) -> None:
        """All fixes of the runs of a file: those of a pass together, or one by one where that is not taken."""
        together = True
        while self.tries[start] < _TRIES and self._todo(start):
            self.tries[start] += 1
            self.bench.now(start)
            todo = _first(self._todo(start))
            chosen = choose(todo if together else todo[:1])
            if not chosen:
                return
            fault = self._try(chosen)
            if fault and len(chosen) > 1:
                together = False
            elif fault:
                self.refused[_identity(chosen[0].finding)] = Refused(chosen[0].finding, fault)
            else:
                self.refused.clear()

    def mended(self) -> Mended:
        """The result; what was refused and is gone since is not told."""
        bench = self.bench
        found = {_identity(one): (start, one) for start in bench.starts() for one in self._fixes(start)}
        asked = {key: one for key, one in found.items() if self._asked(one[1])}
        texts = {file: text for file, text in bench.texts.items() if text != self.before[file]}
        refused = [
            self.refused.get(key) or Refused(one, self._barred(start, one) or _MORE)
            for key, (start, one) in asked.items()
        ]
        return Mended(
            {file: self.before[file] for file in texts},
            texts,
            tuple(one for one in self.changes if one.file in texts),
            tuple(refused),
            len(found) - len(asked),
        )

    def _todo(self, start: str) -> list[Finding]:
        """The fixes that may be made now."""
        return [
            one
            for one in self._fixes(start)
            if self._asked(one) and _identity(one) not in self.refused and not self._barred(start, one)
        ]

    def _fixes(self, start: str) -> Iterator[Finding]:
        found = (one for one in self.bench.findings(start) if one.fix is not None and one.suppressed is None)
        return filter(self.only, found)

    def _asked(self, finding: Finding) -> bool:
        return finding.fix is not None and (finding.fix.safe or self.unsafe)

    def _barred(self, start: str, finding: Finding) -> str:
        """Why none of a fix can be made, whatever it would do."""
        parts = self.bench.parts(start)
        for file in {edit.file for edit in finding.fix.edits} if finding.fix else ():
            if file not in parts:
                return "it lies in a file that is no part of the run"
            if parts[file].problems:
                return "the file has a fault that has to be mended first"
            if why := self.barred(file):
                return why
        return ""

    def _try(self, chosen: list[Chosen]) -> str:
        """Make these fixes if what comes of them is right; else why not."""
        bench, edits = self.bench, all_edits(chosen)
        readers = bench.readers(edits)
        before = {start: bench.now(start) for start in readers}
        old = {file: bench.parts(start)[file].text for start in readers for file in edits if file in bench.parts(start)}
        texts = {file: apply(old[file], several) for file, several in edits.items()}
        if all(text in self.seen.get(file, ()) for file, text in texts.items()):
            return "it would undo another fix"
        after = {start: bench.judge(start, texts) for start in readers}
        fixed = [one.finding for one in chosen]
        for start in readers:
            fault = fault_of(before[start], after[start], fixed, edits)
            if fault:
                return fault
        for file, text in texts.items():
            self.seen.setdefault(file, {old[file]}).add(text)
        self.before = {**old, **self.before}
        self.changes += [_change(one.finding, old[file], edits) for one in chosen for file, edits in one.edits.items()]
        bench.keep(texts, after)
        return ""


def _first(findings: list[Finding]) -> list[Finding]:
    """What is to be fixed before the rest: what somebody wrote under a wrong name is what is meant by the right one."""
    rewritten = [one for one in findings if one.fix and not one.fix.wants]
    return rewritten or findings


def _identity(finding: Finding) -> _Identity:
    """What a fix is known by while the places in its file move."""
    texts = tuple((edit.file, edit.text) for edit in finding.fix.edits) if finding.fix else ()
    return (finding.rule, finding.span.file, finding.key, finding.pointer, repr(finding.value), texts)


def _change(finding: Finding, text: str, edits: tuple[Edit, ...]) -> Change:
    start, end = min(edit.start for edit in edits), max(edit.end for edit in edits)
    new = apply(text, edits)
    lines = Lines(text)
    here = finding.span.file == edits[0].file
    return Change(
        edits[0].file,
        finding.rule,
        finding.name,
        finding.tier,
        finding.key,
        finding.span.line if here else lines.place(start)[0],
        finding.span.cell if here else None,
        _lines(text, start, end),
        _lines(new, start, end + len(new) - len(text)),
    )


def _lines(text: str, start: int, end: int) -> str:
    """The lines that a range meets, without the break behind the last; empty where nothing is left of them."""
    begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if start == end == begin:  # whole lines were taken out, or put in
        return ""
    stop = end - 1 if text[begin:end].endswith(("\n", "\r")) else end
    while stop < len(text) and text[stop] not in "\r\n":
        stop += 1
    return text[begin:stop].rstrip("\r\n")
