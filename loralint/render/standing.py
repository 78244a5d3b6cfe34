"""What of a report a reader is to see, findings and the word of a probe: one model of it for all formats."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Finding, Note, Report, Run

_PROBE = "probe: "


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


def probe_said(run: Run) -> str:
    """What micro-training said of a run in a sentence, or why it said nothing; "" where nobody asked."""
    for table in run.tables:
        if table.name == "verdict":
            return table.title
    untold = (note.message for note in run.notes if of_probe(note))
    return next((message.replace(_PROBE, f"{_PROBE}not checked: ", 1) for message in untold), "")


def of_probe(note: Note) -> bool:
    """Whether a note says why a probe told nothing, or not all."""
    return note.kind == "not-checked" and note.message.startswith(_PROBE)
