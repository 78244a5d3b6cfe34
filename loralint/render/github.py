"""Annotations of GitHub Actions: commands that its runner takes from the log, `::error file=...::message`.

The runner (actions/runner src/Runner.Common/ActionCommand.cs) obeys a line that starts with `::`, and an older form
with `##[` anywhere in a line, so neither may come out of a value: `path` and `clean` see to it in all formats. GitHub
shows ten annotations of each level for a step; what is beyond is printed as plain lines below a notice that counts it.
"""

from __future__ import annotations

from collections import Counter

from loralint.model import TIERS, Finding, Report
from loralint.render.concise import probed
from loralint.render.spot import is_file, named, region
from loralint.render.standing import standing
from loralint.source.shown import path, shown

_LEVELS = {"S": "error", "A": "warning", "B": "notice"}
_ROOM = {"S": 10, "A": 10, "B": 9}  # one notice is the summary
_MOST = 4000  # characters of a message


def render(report: Report, *, color: bool) -> str:
    """The worst first, then the summary, and in the log below it what a probe said of each run."""
    del color
    found = [one for _, findings in standing(report) for one in findings]
    found.sort(key=lambda one: TIERS.index(one.tier))
    given: Counter[str] = Counter()
    lines: list[str] = []
    beyond: list[Finding] = []
    for finding in found:
        given[finding.tier] += 1
        if given[finding.tier] <= _ROOM[finding.tier]:
            lines.append(_annotation(finding, report))
        else:
            beyond.append(finding)
    lines += [_summary(report, found, len(beyond)), *(_plain(one, report) for one in beyond)]
    lines += [line for run in report.runs for line in probed(run)]
    return "\n".join(lines) + "\n"


def _annotation(finding: Finding, report: Report) -> str:
    effect, _, cause = finding.message.partition(": ")
    parts = [f"[{finding.tier}] {effect}", *([f"why: {cause}"] if cause else []), f"help: {finding.help}"]
    if finding.span.cell is not None:
        parts.insert(1, f"cell {finding.span.cell}, line {finding.span.line}")
    properties = {**_place(finding, report), "title": shown(f"{finding.rule} {finding.name}")}
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_LEVELS[finding.tier]} {written}::{'%0A'.join(_data(shown(part, _MOST)) for part in parts)}"


def _place(finding: Finding, report: Report) -> dict[str, object]:
    if not is_file(finding.span.file):
        return {}
    place = region(finding.span, report)
    file: dict[str, object] = {"file": path(named(finding.span.file, report.root))}
    if place is None:
        return file
    lines = {**file, "line": place.line, "endLine": place.end_line}
    # GitHub takes columns only where there is one line
    return lines if place.line != place.end_line else {**lines, "col": place.column, "endColumn": place.end_column}


def _summary(report: Report, found: list[Finding], beyond: int) -> str:
    runs = [run for run in report.runs if run.framework is not None]
    verdicts = Counter(run.verdict for run in runs)
    tiers = Counter(one.tier for one in found)
    said = [f"{len(runs)} run{'s' * (len(runs) != 1)}"]
    said += [f"{verdicts[one]} {one}" for one in ("block", "review", "pass") if verdicts[one]]
    said += [f"{tiers[one]} {one}" for one in TIERS if tiers[one]]
    if beyond:
        said.append(f"{beyond} of the findings only in the log below, as GitHub shows ten annotations of a level")
    return f"::notice title=loralint::{'; '.join(said)}"


def _plain(finding: Finding, report: Report) -> str:
    span = finding.span
    place = f"{span.line}" if span.cell is None else f"cell {span.cell}:{span.line}"
    where = f"{path(named(span.file, report.root))}:{place}"
    return f"[{finding.tier}] {where} {finding.rule} {shown(finding.message, _MOST)}; {shown(finding.help, _MOST)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
