"""The findings of a report that a reader is to see."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Finding, Report, Run


def standing(report: Report) -> Iterator[tuple[Run, list[Finding]]]:
    """Every run with the findings that nothing lifts. One of a file that several runs read is told with the first."""
    told: set[tuple[object, ...]] = set()
    for run in report.runs:
        found = []
        for one in run.findings:
            same = (one.rule, one.span, one.key, one.message, one.help)
            if one.suppressed is None and same not in told:
                told.add(same)
                found.append(one)
        yield run, found
