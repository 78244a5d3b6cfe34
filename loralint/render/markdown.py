"""Markdown for a comment on a pull request or the summary of a step: the verdict first, what matters less folded away.

What quotes a config is inert: no link, mention, picture or tag comes out of a value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from loralint.model import TIERS, Finding, Report, Run
from loralint.render.frame import frame
from loralint.render.inert import code, inert
from loralint.render.spot import named
from loralint.render.standing import told
from loralint.render.style import Style
from loralint.source.shown import path

MOST = 65_536  # characters of a comment on GitHub; counted here in bytes, which are never fewer
_TAIL = 400  # bytes kept for what is left out
_ROWS = 50  # of the table of runs
_VERDICTS = ("block", "review", "pass")
_HEADS = {"S": "Blocks the run (S)", "A": "Have a second person look (A)", "B": "Small (B)"}


class Section(NamedTuple):
    """what: the items in words, for what has no room."""

    head: str
    items: list[str]
    foot: str
    what: str


def render(report: Report, *, color: bool) -> str:
    """At most `MOST` bytes; what has no room is counted at the end."""
    del color
    found = list(told(report))
    out, left = _filled(_top(report, found), list(_sections(report, found)))
    if left:
        out += f"\n**No room here for {', '.join(left)}**: `loralint check` prints all of it.\n"
    return out


def _filled(out: str, sections: list[Section]) -> tuple[str, list[str]]:
    """Sections one behind the other as far as there is room, and what had none."""
    room, left = MOST - _TAIL - _size(out), []
    for section in sections:
        room -= _size(section.head + section.foot) + 2
        kept = []
        for item in section.items:
            room -= _size(item) + 1
            if room < 0:
                break
            kept.append(item)
        if kept:
            out += "\n".join(["", section.head, *kept]) + section.foot + "\n"
        if len(kept) < len(section.items):
            left.append(f"{len(section.items) - len(kept)} more {section.what}")
            room = -1
    return out, left


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _top(report: Report, found: list[tuple[Run, list[Finding]]]) -> str:
    judged = [(run, _tiers(findings)) for run, findings in found if run.framework is not None]
    if not judged:
        return "## loralint: no training config found\n"
    verdicts = Counter(run.verdict for run, _ in judged)
    worst = next(one for one in _VERDICTS if verdicts[one])
    total = sum((tiers for _, tiers in judged), Counter[str]())
    runs = f"{len(judged)} run{'s' * (len(judged) != 1)}: " + ", ".join(
        f"{verdicts[one]} {one}" for one in _VERDICTS if verdicts[one]
    )
    findings = ", ".join(f"{total[tier]} {tier}" for tier in TIERS if total[tier]) or "no findings"
    judged.sort(key=lambda one: (_VERDICTS.index(one[0].verdict), one[0].score))
    rows = [_row(run, tiers, report.root) for run, tiers in judged[:_ROWS]]
    rest = len(judged) - len(rows)
    head = "| run | framework | verdict | score | S | A | B |\n| --- | --- | --- | --: | --: | --: | --: |\n"
    more = f"\n{rest} more runs are not in this table, none of them worse.\n" if rest else ""
    return f"## loralint: {worst}\n\n{runs}; {findings}.\n\n{head}{''.join(rows)}{more}"


def _tiers(findings: list[Finding]) -> Counter[str]:
    return Counter(one.tier for one in findings if one.suppressed is None)


def _row(run: Run, tiers: Counter[str], root: str) -> str:
    name = code(path(named(run.files[0], root)), table=True)
    cells = [name, run.framework or "", run.verdict, str(run.score), *(str(tiers[tier]) for tier in TIERS)]
    return f"| {' | '.join(cells)} |\n"


def _sections(report: Report, found: list[tuple[Run, list[Finding]]]) -> Iterator[Section]:
    every = [one for _, findings in found for one in findings]
    for tier in TIERS:
        some = [one for one in every if one.suppressed is None and one.tier == tier]
        if tier == "B":
            yield _folded(f"{_HEADS[tier]}: {len(some)}", [_short(one, report) for one in some], "findings of tier B")
        else:
            items = [_finding(one, report) for one in some]
            yield Section(f"### {_HEADS[tier]}\n", items, "", f"findings of tier {tier}")
    notes = _notes(found)
    yield _folded(f"Not checked, and notes: {len(notes)}", notes, "notes")
    lifted = [f"{_short(one, report)}{_lifted(one)}" for one in every if one.suppressed is not None]
    yield _folded(f"Suppressed: {len(lifted)}", lifted, "suppressed findings")


def _folded(title: str, items: list[str], what: str) -> Section:
    return Section(f"<details><summary>{title}</summary>\n", items, "\n\n</details>", what)


def _finding(finding: Finding, report: Report) -> str:
    effect, _, cause = finding.message.partition(": ")
    lines = [f"- **{inert(effect)}**", f"  {_where(finding, report)}", *_frame(finding, report)]
    if cause:
        lines += ["", f"  Why: {inert(cause)}"]
    lines += ["", f"  Instead: {inert(finding.help)}"]
    return "\n".join([*lines, ""])


def _short(finding: Finding, report: Report) -> str:
    return f"- **{inert(finding.message)}** {_where(finding, report)}: {inert(finding.help)}"


def _where(finding: Finding, report: Report) -> str:
    span = finding.span
    cell = "" if span.cell is None else f" cell {span.cell}"
    place = f"{path(named(span.file, report.root))}{cell}:{span.line}:{span.column}"
    return f"{code(place)} ({inert(f'{finding.rule} {finding.name}')})"


def _frame(finding: Finding, report: Report) -> Iterator[str]:
    """The lines of the config in a fence that none of them closes."""
    lines = list(frame(report.text(finding.span), finding.span, Style(on=False)))
    if lines:
        fence = "~" * max(3, 1 + max(len(run) for line in lines for run in re.findall("~*", line)))
        yield from ("", f"  {fence}text", *(f"  {line}" for line in lines), f"  {fence}")


def _notes(found: list[tuple[Run, list[Finding]]]) -> list[str]:
    """Each once, that of most runs first."""
    counts = Counter((note.kind, note.message) for run, _ in found for note in run.notes)
    return [
        f"- {'not checked' if kind == 'not-checked' else 'note'}"
        f"{f' in {count} runs' if count > 1 else ''}: {inert(message)}"
        for (kind, message), count in counts.most_common()
    ]


def _lifted(finding: Finding) -> str:
    said = finding.suppressed or {}
    until = f" until {inert(said['expires'])}" if "expires" in said else ""
    return f" (by {inert(said['by'])}{until}{': ' + inert(said['reason']) if said.get('reason') else ''})"
