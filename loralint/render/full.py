"""For people at a terminal: what happens to the run, the code frame, the cause, what to write.

A message reads "effect: cause"; the effect is the headline and the cause follows the frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loralint.model import TIERS, Finding, Note, Report, Run
from loralint.render.standing import of_probe, probe_said, standing
from loralint.render.style import Style
from loralint.source.shown import path, shown

MAX_NOTE_LINES = 3
MOST = 400  # characters of a table's title
_LONGEST = 4000  # of a message


def render(report: Report, *, color: bool) -> str:
    """Every run with findings, then one line of totals."""
    style = Style(color)
    lines: list[str] = []
    alone = len(report.runs) == 1
    found = list(standing(report))
    for run, findings in found:
        lines += _run(run, findings, report, style, alone)
    if not alone:
        lines += [style.dim(line) for line in _unchecked(report)]
    tiers = Counter(finding.tier for _, findings in found for finding in findings)
    return "\n".join([*lines, *_summary(report, tiers, style)]) + "\n"


def _unchecked(report: Report) -> list[str]:
    """What was not checked in several runs, each reason once, the one of most runs first."""
    counts = Counter(note.message for run in report.runs for note in run.notes if note.kind == "not-checked")
    lines = [
        f"not checked in {count} run{'s' if count > 1 else ''}: {shown(reason, _LONGEST)}"
        for reason, count in counts.most_common()
    ]
    if len(lines) > MAX_NOTE_LINES:
        rest = len(lines) - MAX_NOTE_LINES + 1
        lines = [*lines[: MAX_NOTE_LINES - 1], f"and {rest} more reasons (--format json has them all)"]
    return [*lines, ""] if lines else []


def _run(run: Run, findings: list[Finding], report: Report, style: Style, alone: bool) -> Iterator[str]:
    name = "" if alone or not run.tables else f"{path(run.files[0])}: "
    for table in run.tables:
        title = shown(table.title, MOST)
        yield style.bold(f"{name}{title}") if table.name == "verdict" else f"  {title}"
    said = probe_said(run) if alone else ""
    if said and not run.tables:
        yield style.bold(shown(said, MOST))
    if said or run.tables:
        yield ""
    ordered = sorted(findings, key=lambda one: (TIERS.index(one.tier), one.span.line))
    for finding in ordered:
        yield from _finding(finding, report.text(finding.span), style)
        yield ""
    told = tuple(note for note in run.notes if (alone or note.kind == "info") and not _said_above(note, said))
    notes = list(_notes(told))
    if notes and (alone or findings or run.framework is None):
        yield from (style.dim(f"{path(run.files[0])}: {line}") for line in notes)
        yield ""


def _said_above(note: Note, said: str) -> bool:
    return of_probe(note) and note.message.partition(": ")[2] in said


def _finding(finding: Finding, text: str, style: Style) -> Iterator[str]:
    from loralint.render.frame import frame  # a clean run draws no frame

    effect, _, cause = shown(finding.message, _LONGEST).partition(": ")
    cell = f" cell {finding.span.cell}" if finding.span.cell is not None else ""
    where = f"{path(finding.span.file)}{cell}:{finding.span.line}:{finding.span.column}"
    yield f"{style.tier(finding.tier)} {style.bold(effect)}  {style.dim(shown(f'{finding.rule} {finding.name}'))}"
    yield f"  {style.dim('-->')} {where}{_origin(finding)}"
    yield from frame(text, finding.span, style)
    if cause:
        yield f"  {style.dim('why:')}   {cause}"
    for one in finding.related:
        cell = f" cell {one.cell}" if one.cell is not None else ""
        said = f"{shown(one.key)} {shown(one.message, _LONGEST)}"
        yield f"  {style.dim('also:')}  {path(one.file)}{cell}:{one.line} {said}"
    if finding.overridden:
        yield f"  {style.dim('tier:')}  {finding.tier} by the settings, {finding.overridden} by the rule"
    yield f"  {style.green('help:')}  {shown(finding.help, _LONGEST)}"


def _origin(finding: Finding) -> str:
    if finding.origin == "default":
        return f"  `{shown(finding.key)}` is not written; this is the default"
    return f"  `{shown(finding.key)}` is not written" if finding.origin == "absent" else ""


def _notes(notes: tuple[Note, ...]) -> Iterator[str]:
    """Three lines at most: information first, then what was not checked, largest group first."""
    info = [shown(note.message, _LONGEST) for note in notes if note.kind == "info"]
    unchecked = [note for note in notes if note.kind == "not-checked"]
    lines = [f"note: {message}" for message in info]
    lines += [f"not checked: {_group(note)}" for note in unchecked]
    yield from lines[:MAX_NOTE_LINES] if len(lines) <= MAX_NOTE_LINES else lines[: MAX_NOTE_LINES - 1]
    if len(lines) > MAX_NOTE_LINES:
        yield f"and {len(lines) - MAX_NOTE_LINES + 1} more notes (--format json has them all)"


def _group(note: Note) -> str:
    count = len(note.rules)
    reason = shown(note.message, _LONGEST)
    return reason if not count else f"{count} rule{'s' if count > 1 else ''}: {reason}"


def _summary(report: Report, tiers: Counter[str], style: Style) -> Iterator[str]:
    runs = [run for run in report.runs if run.framework is not None]
    if not runs:
        yield "no training config found"
        return
    lifted = sum(finding.suppressed is not None for run in runs for finding in run.findings)
    if len(runs) == 1:
        run = runs[0]
        head = f"{path(run.files[0])} ({run.framework}): {style.verdict(run.verdict)}, score {run.score}/100"
    else:
        verdicts = Counter(run.verdict for run in runs)
        head = f"{len(runs)} runs: " + ", ".join(
            f"{count} {style.verdict(name)}" for name, count in sorted(verdicts.items())
        )
    parts = [f"{tiers[tier]} {tier}" for tier in TIERS if tiers[tier]] or ["no findings"]
    if lifted:
        parts.append(f"{lifted} suppressed")
    yield f"{head}; {', '.join(parts)}"
