"""What the gate itself finds, beside the rules: configs that left its sight, protected files, unsigned commits."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from loralint.engine.approval import FOLDER
from loralint.engine.ratchet import judged, lost
from loralint.engine.settings import Settings
from loralint.engine.signers import Signer
from loralint.gate.change import Change, Commit
from loralint.gate.codes import CODES
from loralint.gate.judging import Asked, reads_as_run
from loralint.gate.signature import commit_key
from loralint.gate.tree import Tree
from loralint.model import Finding, Report, Span
from loralint.source.shown import path
from loralint.source.walk import SUFFIXES

# What is found of a file that was not read.
_NOT_READ = "LL002"


def read(report: Report) -> dict[str, bool]:
    """Every file that was read for some run -> whether a run starts with it."""
    closed = _closed(report)
    return {file: starts for file, starts in judged(report).items() if file not in closed}


def unjudged(
    base: dict[str, bool], head: dict[str, bool], change: Change, after: Tree, report: Report, settings: Settings,
    asked: Asked,
) -> Iterator[Finding]:  # fmt: skip
    """Files that were judged at the base and are still there, under whatever name, and are not judged now.

    base, head: what `read` says of both; report: of the head.
    """
    told = set()
    for old, name in lost(base, head, after.entries, change.renamed, change.touched):
        told.add(name)
        yield _unseen(old, name, _why(name, after, report))
    gone = {file for file, starts in base.items() if starts and file in change.deleted}
    kinds = {posixpath.splitext(file)[1]: file for file in sorted(gone)}
    for name in sorted(change.added - set(head) - told) if gone else ():
        alike = (one for one in kinds.values() if reads_as_run(after, name, one, settings, asked))
        old = _named_after(name, gone) or next(alike, "")
        if old:
            yield _unseen(old, name, "its name is none of a config's")


def _closed(report: Report) -> dict[str, str]:
    """Files that look like a run and were not read -> what is said of them."""
    found = (one for run in report.runs for one in run.findings if one.rule == _NOT_READ)
    return {one.span.file: one.message for one in found}


def _named_after(name: str, gone: set[str]) -> str:
    """The config that a file beside it is called after: train.yaml.j2 or train.yaml.bak after train.yaml."""
    folder, base = posixpath.split(name)
    parts = base.split(".")
    before = (posixpath.join(folder, ".".join(parts[:count])) for count in range(1, len(parts)))
    return next((one for one in before if one in gone), "")


def _why(name: str, after: Tree, report: Report) -> str:
    if name in after.left:
        return after.left[name]
    if not name.lower().endswith(SUFFIXES):
        return "its name is none of a config's"
    notes = (note.message for run in report.runs if name in run.files and run.framework is None for note in run.notes)
    return next(notes, "") or _closed(report).get(
        name, "it is not recognised as a training config any more, or the settings exclude it"
    )


def _unseen(old: str, name: str, why: str) -> Finding:
    was = f" as {path(old)}" if old != name else ""
    return fault(
        "LG001", name,
        f"the gate would lose sight of this config: it was judged at the base{was} and is not judged now: {why}",
        "keep it readable as a training config, or delete it; what is no config any more is excluded in the settings "
        "of the base first",
    )  # fmt: skip


def protected(patterns: Iterable[str], change: Change, after: Tree) -> Iterator[tuple[Finding, str]]:
    """Every protected file that the change adds, edits, moves or deletes, with what it is now."""
    from loralint.source.walk import ignore_spec

    spec = ignore_spec(list(patterns))
    for name in sorted({*change.touched, *change.deleted, *change.renamed}):
        if spec.match_file(name) and not name.startswith(f"{FOLDER}/"):
            entry = after.entries.get(name)
            yield protected_file(name, f"{entry.mode} {entry.blob}" if entry is not None else "deleted")


def protected_file(name: str, content: str) -> tuple[Finding, str]:
    """The finding for a protected file. content: mode and object of what it is now, or "deleted"."""
    found = fault(
        "LG002", name,
        "a file changes that decides how configs are judged: the settings protect it",
        "leave it as it is at the base",
    )  # fmt: skip
    return found._replace(value=content), content


def unsigned(
    repository: str, commits: Iterable[Commit], configs: Iterable[str], signers: list[Signer]
) -> Iterator[Finding]:
    """Commits that change configs and are not signed by a key that the base knows."""
    names = set(configs)
    for one in commits:
        changed = sorted(names.intersection(one.files))
        if changed and not commit_key(repository, one.id, signers):
            yield fault(
                "LG003", changed[0],
                f"nobody answers for this change: commit {one.id[:12]} is not signed by an allowed signer",
                "sign it: git rebase --exec 'git commit --amend --no-edit -S' BASE (gpg.format=ssh, user.signingkey)",
            )  # fmt: skip


def fault(code: str, file: str, message: str, help_: str) -> Finding:
    """A finding about a whole file."""
    about = CODES[code]
    return Finding(code, about.name, about.tier, message, help_, Span(file, 0, 0, 1, 1, 1, 1), "", "", "", None, "set")
