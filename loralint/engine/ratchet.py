"""What a change makes worse: findings that its base does not have, and files that nobody judges any more."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from loralint.model import TIERS, Finding, Report
from loralint.source.secrets import redact
from loralint.source.shown import shown

# The message holds the numbers of other settings, so that the same value under worse ones is something new.
Key = tuple[str, str, str, str, str]
# Which version a rule assumes stands behind the rest of a message; a pin is no new finding.
_ASSUMED = re.compile(r", judged by [^:]*, which nobody pinned(?=: |$)")


def key_of(finding: Finding, file: str) -> Key:
    """(file, rule, JSON pointer, value, message): no line, so that moving a key does not revive its finding."""
    pointer = redact(finding.pointer or finding.key)
    return file, finding.rule, pointer, json.dumps(shown(finding.value)), _said(finding.message)


def _said(message: str) -> str:
    """A message without the version that it rests on, and without how many more keywords of a call share its fault."""
    return _ASSUMED.sub("", message).partition("; so it is with ")[0]


def distinct(report: Report) -> list[Finding]:
    """Every finding once, also where several runs read its file."""
    found = (one for run in report.runs for one in run.findings)
    return list({(one.rule, one.tier, one.span, one.key, one.message): one for one in found}.values())


def new_findings(base: Iterable[Finding], head: Iterable[Finding], renamed: Mapping[str, str]) -> list[Finding]:
    """Those of `head` that no finding of `base` covers: one of the same key and at least as grave, each for one.

    renamed: a file's name at the base -> its name now.
    """
    known: dict[Key, list[str]] = defaultdict(list)
    for one in base:
        known[key_of(one, renamed.get(one.span.file, one.span.file))].append(one.tier)
    return [
        one
        for one in sorted(head, key=lambda one: TIERS.index(one.tier))
        if not _covered(one.tier, known[key_of(one, one.span.file)])
    ]


def _covered(tier: str, known: list[str]) -> bool:
    """Whether a finding of the base is left that was no milder; it is used up then."""
    fitting = [one for one in known if TIERS.index(one) <= TIERS.index(tier)]
    if fitting:
        known.remove(max(fitting, key=TIERS.index))
    return bool(fitting)


def judged(report: Report) -> dict[str, bool]:
    """Every file that is part of some run -> whether a run starts with it."""
    files: dict[str, bool] = {}
    for run in report.runs:
        if run.framework is not None:
            for index, file in enumerate(run.files):
                files[file] = files.get(file, False) or index == 0
    return files


def reread(base: Report, head: Report, renamed: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(file, framework at the base, framework now) of configs that are read as another framework's now."""
    old, now = ({run.files[0]: run.framework for run in one.runs if run.framework} for one in (base, head))
    found = ((renamed.get(file, file), framework) for file, framework in sorted(old.items()))
    return [(name, was, now[name]) for name, was in found if now.get(name, was) != was]


def lost(
    base: Mapping[str, bool],
    head: Iterable[str],
    names: Iterable[str],
    renamed: Mapping[str, str],
    touched: Iterable[str],
) -> list[tuple[str, str]]:
    """(name at the base, name now) of files that were judged, are still there, and are not judged any more.

    base, head: what `judged` says of both; names: every file that is there now; touched: files that the change adds or
    edits, by their names now. A companion that no run names any more and that nobody touched has lost nothing.
    """
    now, there, changed = set(head), set(names), set(touched)
    found = []
    for file, starts in sorted(base.items()):
        name = renamed.get(file, file)
        if name in there and name not in now and (starts or name in changed):
            found.append((file, name))
    return found
