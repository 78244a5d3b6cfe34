"""The gate's decision: two trees judged under the base's policy, what is new, and what two people have approved.

Policy (settings, exceptions, keys, owners) is the base's latest, so that a branch made before a key was withdrawn does
not bring the key back. Findings are compared with the commit where the change parts from the base, so that what others
have mended there since is not held against it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loralint.engine.approval import Subject, models_of, subject_of
from loralint.engine.owners import PLACES, owners
from loralint.engine.ratchet import distinct, judged, new_findings, reread
from loralint.engine.recorded import approvals as approved
from loralint.engine.recorded import changes as changed
from loralint.engine.reviews import reviewers
from loralint.engine.score import score, verdict
from loralint.engine.settings_file import Gate
from loralint.engine.trail import read_trail
from loralint.gate.approvals import Approvals, approvals, call
from loralint.gate.change import change_between, commits_between, fork_of, last_author
from loralint.gate.faults import protected, read, unjudged, unsigned
from loralint.gate.git import commit_of, top_of
from loralint.gate.judging import Asked, judge_tree, settings_of
from loralint.gate.signature import signers_of
from loralint.gate.tree import Tree, write_tree
from loralint.model import Finding, Report, Run, Table
from loralint.source.shown import path, shown

_MOST_NAMED = 20  # findings whose line's author is looked up: each is a process


class Outcome(NamedTuple):
    """report: of the change, with what does not count marked as suppressed; blocking, waiting: how many findings of
    tier S, and of tier A without approval, are new; older: how many stood at the base. min_score: below which a run
    does not pass; only what is new costs it score.
    """

    report: Report
    blocking: int
    waiting: int
    older: int
    notes: tuple[str, ...]
    min_score: int = 0

    @property
    def passed(self) -> bool:
        """Whether the change may be merged."""
        low = any(run.score < self.min_score for run in self.report.runs)
        return not (self.blocking or self.waiting or low)


class _Trees(NamedTuple):
    policy: Tree
    before: Tree
    after: Tree


def decide(base: str, head: str, asked: Asked, *, reviews: str | None = None, inline: bool = True) -> Outcome:
    """Judge the change from `base` to `head` in the checkout around the working folder.

    reviews: what the forge told, as JSON (`loralint.engine.reviews`). inline: False disregards comments of the change
    whatever the settings say. Raises GitError, SettingsError and ValueError.
    """
    top = top_of(".")
    base, head = commit_of(top, base), commit_of(top, head)
    fork = fork_of(top, base, head)
    with tempfile.TemporaryDirectory(prefix="loralint-gate-") as folder:
        policy = write_tree(top, base, os.path.join(folder, "policy"))
        before = policy if fork == base else write_tree(top, fork, os.path.join(folder, "before"))
        trees = _Trees(policy, before, write_tree(top, head, os.path.join(folder, "after")))
        found = reviewers(reviews, head) if reviews is not None else None
        try:
            return _decided(top, (base, fork, head), trees, asked, found, inline)
        except ValueError as error:  # files of the base are called as the repository calls them
            raise ValueError(str(error).replace(policy.folder + os.sep, "")) from None


def _decided(
    top: str, commits: tuple[str, str, str], trees: _Trees, asked: Asked, found: list[str] | None, inline: bool
) -> Outcome:
    """The decision on commits that were written out. commits: base, fork, head; found: who approves at the forge."""
    base, fork, head = commits
    settings = settings_of(trees.policy)
    rules = settings.gate or Gate()
    old = judge_tree(trees.before, settings, asked._replace(fixes=False, figures=False))
    now = judge_tree(trees.after, settings, asked)
    change, made = change_between(top, fork, head), commits_between(top, base, head)
    signers = signers_of(trees.policy, rules)
    given = approvals(top, base, made, trees, signers, found)

    counted = [one for one in distinct(now) if _stands(one, inline and rules.inline_ignores)]
    new = new_findings(distinct(old), counted, change.renamed)
    own = list(unjudged(read(old), read(now), change, trees.after, now, settings, asked))
    own += [one for one, _ in protected(rules.protected, change, trees.after)]
    if rules.require_signed:
        own += unsigned(top, made, {*judged(old), *judged(now)}, signers)

    whose = _Owners(top, head, trees.policy)
    models = models_of(now)
    standing = {_same(one): _weighed(one, models.get(_place(one), set()), given, whose) for one in (*new, *own)}
    report = _marked(now, standing, {_same(one) for one in counted}, keep=asked.figures)
    report = report._replace(runs=(*report.runs, *_own_runs(standing[_same(one)] for one in own)))
    if asked.figures:
        subjects = [subject_of(one, models.get(_place(one), set())) for one in (*new, *own) if one.tier == "A"]
        report = report._replace(recorded=_recorded(report, trees, given, subjects))
    tiers = [one.tier for one in standing.values() if one.suppressed is None]
    notes = (*_policy_notes(settings.file, rules, change.touched | change.deleted, trees.policy), *given.faults())
    notes += tuple(_other_rules(*one) for one in reread(old, now, change.renamed))
    older = len(counted) - len(new)
    return Outcome(report, tiers.count("S"), tiers.count("A"), older, notes, settings.min_score)


def _recorded(report: Report, trees: _Trees, given: Approvals, subjects: list[Subject]) -> tuple[Table, ...]:
    """The approvals of the change, and the audit trail that has to hold all records of the base."""
    files = {file for run in report.runs for file in run.files}
    held = read_trail(trees.policy.folder)[0]
    return (
        *approved(given.records, files, subjects, given.state),
        *changed(trees.after.folder, files, held),
    )


def _stands(finding: Finding, inline: bool) -> bool:
    """Whether a finding counts if it is new: the base's settings lift it, a comment only where they let it."""
    by = finding.suppressed["by"] if finding.suppressed is not None else ""
    return not by or (by == "inline" and (finding.tier == "S" or not inline))


def _weighed(finding: Finding, models: set[str], given: Approvals, whose: _Owners) -> Finding:
    """A new finding as it is told: approved, or with what is missing and whom to ask."""
    finding = finding._replace(suppressed=None)
    if finding.tier == "A":
        subject = subject_of(finding, models)
        why = given.why_not(subject)
        if not why:
            return finding._replace(suppressed={"by": "approval", "reason": "approved by two people"})
        finding = finding._replace(help=f"{finding.help}; or let two people approve it ({why}): {call(subject)}")
    said = whose.of(finding) if finding.tier != "B" else ""
    return finding._replace(help=f"{finding.help}; {said}") if said else finding


class _Owners:
    """Whom to ask about a place: the file's owners by CODEOWNERS of the base, and who git says wrote the line last."""

    def __init__(self, top: str, head: str, policy: Tree) -> None:
        self._top, self._head, self._left = top, head, _MOST_NAMED
        self._text = next((policy.read(one) for one in PLACES if one in policy.entries), "")

    def of(self, finding: Finding) -> str:
        """In words; empty when nobody is known."""
        file, line, who = finding.span.file, finding.span.line, ""
        if finding.origin == "set" and finding.span.cell is None and finding.key and self._left:
            self._left -= 1
            who = last_author(self._top, self._head, file, line)
        named = [f"the file belongs to {shown(one)}" for one in [" ".join(owners(self._text, file))] if one]
        return "; ".join([*named, *([f"the line is by {shown(who, 80)}"] if who else [])])


def _marked(report: Report, standing: dict[object, Finding], counted: set[object], *, keep: bool) -> Report:
    """The report in which only what is new and not approved stands. keep: with the runs' settings."""
    runs = []
    for run in report.runs:
        findings = tuple(
            standing.get(_same(one)) or (one._replace(suppressed=_OLDER) if _same(one) in counted else one)
            for one in run.findings
        )
        settings = run.settings if keep else ()
        runs.append(
            run._replace(findings=findings, score=score(findings), verdict=verdict(findings), settings=settings)
        )
    return report._replace(runs=tuple(runs))


_OLDER = {"by": "base", "reason": "it stood at the base already"}


def _own_runs(findings: Iterable[Finding]) -> Iterator[Run]:
    """What the gate itself finds, as runs that formats count and list as they do others."""
    for one in findings:
        yield Run((one.span.file,), "gate", score([one]), verdict([one]), (one,))


def _policy_notes(file: str, rules: Gate, changed: frozenset[str], policy: Tree) -> list[str]:
    """What of its own gate the change edits: told, since it counts from the merge on."""
    settings = os.path.relpath(file, policy.folder) if file else "loralint.toml"
    keys = {name for name in changed if name.startswith(f"{rules.openpgp_keys}/")}
    known = ({settings, rules.allowed_signers, *PLACES} & changed) | keys
    return [f"{name} changes; this gate goes by the base's" for name in sorted(known)]


def _other_rules(file: str, was: str, now: str) -> str:
    return f"{path(file)} is read as {now} now and was read as {was} at the base: other rules apply"


def _same(finding: Finding) -> object:
    return finding.rule, finding.tier, finding.span, finding.key, finding.message


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.span, finding.key
