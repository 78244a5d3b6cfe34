"""One line for each finding, as editors and grep like it."""

from __future__ import annotations

from loralint.model import Finding, Report
from loralint.render.standing import standing
from loralint.source.shown import path, shown

_LONGEST = 4000  # characters of a message


def render(report: Report, *, color: bool) -> str:
    """path:line:column: tier rule message (help)."""
    del color
    return "".join(_line(finding) for _, findings in standing(report) for finding in findings)


def _line(finding: Finding) -> str:
    span = finding.span
    place = f"{span.line}:{span.column}" if span.cell is None else f"cell {span.cell}:{span.line}"
    said = f"{shown(finding.message, _LONGEST)}; {shown(finding.help, _LONGEST)}"
    return f"{path(span.file)}:{place}: {finding.tier} {finding.rule} {said}\n"
