"""What a folder holds before a launch: its runs, secrets, contradictions, variables, and what fixes would change."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from loralint.model import Finding, Report, Run, Value
from loralint.source.clean import clean
from loralint.source.secrets import redact
from loralint.source.shown import path, shown

_SECRET = "secret-in-config"  # noqa: S105 - the name of a rule
# Rules that say that two parts of a run do not agree, by name.
_DISAGREE = ("overruled", "differs", "conflict", "disagree", "misplaced", "in-two")
_LINES = 40  # of a diff that are shown for one file


def inspection(report: Report, before: Mapping[str, str], fixed: Mapping[str, str]) -> Iterator[str]:
    """Lines for people. before, fixed: file -> its text now and after all safe fixes, of those that would change."""
    runs = [run for run in report.runs if run.framework]
    yield f"Runs: {len(runs) or 'none'}"
    for run in runs:
        yield f"  {_run(run)}"
    standing = [one for run in runs for one in run.findings if one.suppressed is None]
    yield from _section("Secrets", [_place(one) for one in standing if one.name == _SECRET])
    apart = [one for one in standing if any(word in one.name for word in _DISAGREE)]
    yield from _section("Parts that disagree", [_told(one) for one in apart])
    yield from _section("Variables that count", _variables(runs))
    yield from _section("Not checked", _unchecked(report))
    yield from _section("Safe fixes", list(_diffs(before, fixed)))


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield ""
    yield f"{title}: {'' if lines else 'none'}".rstrip()
    yield from (f"  {line}" for line in lines)


def _run(run: Run) -> str:
    tiers = Counter(one.tier for one in run.findings if one.suppressed is None)
    told = ", ".join(f"{count} {tier}" for tier, count in sorted(tiers.items(), key=lambda one: "SAB".index(one[0])))
    files = " + ".join(map(path, run.files))
    return f"{files} ({run.framework}): {run.verdict}, score {run.score}/100{'; ' + told if told else ''}"


def _place(finding: Finding) -> str:
    """Where a secret stands; its value is told nowhere."""
    span = finding.span
    return f"{_at(span.file, span.cell, span.line)} {shown(finding.key)} [{finding.rule}]"


def _told(finding: Finding) -> str:
    beside = "".join(f"; {_at(one.file, one.cell, one.line)} {shown(one.key)}" for one in finding.related)
    span = finding.span
    return f"{_at(span.file, span.cell, span.line)} {finding.message}{beside} [{finding.rule}]"


def _at(file: str, cell: int | None, line: int) -> str:
    """A place as people read it; a line of a notebook counts in its cell."""
    return f"{path(file)}:{line}" if cell is None else f"{path(file)} cell {cell}:{line}"


def _variables(runs: Iterable[Run]) -> list[str]:
    return list(
        dict.fromkeys(
            _variable(value, counts=value is setting.value, over=setting.value)
            for run in runs
            for setting in run.settings
            for value in (setting.value, *setting.value.shadowed)
            if value.origin == "env"
        )
    )


def _variable(value: Value, *, counts: bool, over: Value) -> str:
    where = f"{path(value.span.file)}:{value.span.line}" if value.span else ""
    written = value.value if value.text is None else value.text
    told = f"{where} {shown(value.key)}={shown(written)} sets {value.field}"
    if not counts:
        return f"{told}, but {shown(over.key)} ({shown(over.value)}) counts before it"
    hidden = ", ".join(f"{shown(one.key)} {shown(one.value)}" for one in value.shadowed)
    return f"{told}{', over ' + hidden if hidden else ''}"


def _unchecked(report: Report) -> list[str]:
    counts = Counter(note.message for run in report.runs for note in run.notes if note.kind == "not-checked")
    return [f"{reason} ({count} run{'s' if count > 1 else ''})" for reason, count in counts.most_common()]


def _diffs(before: Mapping[str, str], fixed: Mapping[str, str]) -> Iterator[str]:
    for file, text in sorted(fixed.items()):
        old, new = redact(before[file]).splitlines(), redact(text).splitlines()
        lines = list(difflib.unified_diff(old, new, path(file), path(file), lineterm="", n=1))
        yield from (clean(line, limit=160) for line in lines[:_LINES])
        if len(lines) > _LINES:
            yield f"and {len(lines) - _LINES} more lines"
