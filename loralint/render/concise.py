"""One line for each finding, as editors and grep like it."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Finding, Report, Run
from loralint.render.standing import probe_said, standing
from loralint.source.shown import path, shown

MOST = 400  # characters of what a probe said
_LONGEST = 4000  # of a message


def render(report: Report, *, color: bool) -> str:
    """path:line:column: tier rule message (help). A run that was probed begins with path: and the probe's word."""
    del color
    return "".join(line for run, findings in standing(report) for line in (*_probe(run), *map(_line, findings)))


def probed(run: Run) -> Iterator[str]:
    """What micro-training said of a run, or why it said nothing, in a line after its file."""
    if said := probe_said(run):
        yield f"{path(run.files[0])}: {shown(said, MOST)}"


def _probe(run: Run) -> Iterator[str]:
    return (f"{line}\n" for line in probed(run))


def _line(finding: Finding) -> str:
    span = finding.span
    place = f"{span.line}:{span.column}" if span.cell is None else f"cell {span.cell}:{span.line}"
    said = f"{shown(finding.message, _LONGEST)}; {shown(finding.help, _LONGEST)}"
    return f"{path(span.file)}:{place}: {finding.tier} {finding.rule} {said}\n"
