"""What `--fix` and `--diff` of several commands do: mend in memory, then write, show or print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

import click

from loralint.engine.lint import Job
from loralint.engine.mend import Mended, mend
from loralint.engine.save import Saved, barred, save
from loralint.engine.settings import Settings
from loralint.engine.trail import Trail, root_of
from loralint.model import Finding
from loralint.render.changes import counted, diff, in_a_line, place
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.rewrite import encoded
from loralint.source.shown import path, shown


class Asked(NamedTuple):
    """What of fixing was asked for. text: what standard input is called, if that is what is to be fixed.

    rules: the only rules whose fixes are wanted, None for all.
    """

    unsafe: bool = False
    audit: bool = True
    text: str = ""
    rules: frozenset[str] | None = None

    def mend(self, documents: Iterable[Document], job: Job, project: Callable[[], Project]) -> Mended:
        """The files as their fixes make them, nothing written yet."""
        return mend(documents, job, project, unsafe=self.unsafe, barred=self.barred, only=self.wanted)

    def wanted(self, finding: Finding) -> bool:
        """Whether a finding is to be fixed."""
        return self.rules is None or finding.rule in self.rules

    def barred(self, file: str) -> str:
        """Why a file stays as it is; "" if it may change."""
        if self.text:
            return "" if file == self.text else "it lies in another file than standard input"
        return barred(file)


def fix_files(
    documents: Iterable[Document], job: Job, project: Callable[[], Project], settings: Settings, asked: Asked
) -> bool:
    """Make the fixes, tell of them on standard error, and say whether every file could be written."""
    mended = asked.mend(documents, job, project)
    saved = save(mended, _trail(settings) if asked.audit and mended.texts else None)
    _tell(mended, saved)
    return not saved.refused


def show_diff(documents: Iterable[Document], job: Job, project: Callable[[], Project], asked: Asked) -> bool:
    """Print what the fixes would change, and say whether that is anything."""
    mended = asked.mend(documents, job, project)
    click.echo(diff(mended.before, mended.texts), nl=False)
    _summary(mended, "would be made", len(mended.changes))
    return bool(mended.texts)


def fix_text(
    documents: Iterable[Document], text: bytes, job: Job, project: Callable[[], Project], asked: Asked
) -> bytes:
    """Print standard input with its fixes, and give it back; what lies in other files is left."""
    mended = asked.mend(documents, job, project)
    _tell(mended, Saved(mended.changes, {}))
    fixed = encoded(mended.texts[asked.text], text) if mended.texts else text
    sys.stdout.buffer.write(fixed)
    sys.stdout.flush()
    return fixed


def _trail(settings: Settings) -> Trail:
    from datetime import UTC, datetime

    from loralint.cli.git import author

    root = root_of(os.curdir, settings.root if settings.file else os.curdir)
    return Trail(root, author(root), datetime.now(UTC).isoformat(timespec="seconds"))


def _tell(mended: Mended, saved: Saved) -> None:
    for one in saved.changes:
        at = place(one.file, one.line, one.cell)
        _say(f"fixed {at} {one.rule} {one.name}: {in_a_line(one.before, one.after)}")
    for file, reason in saved.refused.items():
        _say(f"not written {path(file)}: {reason}")
    _summary(mended, "made", len(saved.changes))


def _summary(mended: Mended, what: str, count: int) -> None:
    for refused in mended.refused:
        one = refused.finding
        at = place(one.span.file, one.span.line, one.span.cell)
        _say(f"not fixed {at} {one.rule} {one.name}: {shown(refused.reason)}")
    more = f"; {counted(mended.unsafe, 'more fix')} with --unsafe-fixes" if mended.unsafe else ""
    _say(f"{counted(count, 'fix')} {what}{more}")


def _say(text: str) -> None:
    click.echo(text, err=True)
    sys.stderr.flush()
