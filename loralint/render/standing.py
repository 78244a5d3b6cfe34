"""The findings of a report that a reader is to see: one model of it for all formats."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Finding, Report, Run


def told(report: Report) -> Iterator[tuple[Run, list[Finding]]]:
    """Every run with its findings, lifted or not. One of a file that several runs read is told with the first."""
    before: set[tuple[object, ...]] = set()
    for run in report.runs:
        found = []
        for one in run.findings:
            same = (one.rule, one.span, one.key, one.message, one.help, one.suppressed is None)
            if same not in before:
                before.add(same)
                found.append(one)
        yield run, found


def standing(report: Report) -> Iterator[tuple[Run, list[Finding]]]:
    """The same without what a comment, the settings or a baseline lifts."""
    for run, found in told(report):
        yield run, [one for one in found if one.suppressed is None]
