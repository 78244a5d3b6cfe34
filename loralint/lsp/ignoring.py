"""An ignore comment where it works: put in, read again, and offered only if it lifts that finding and brings none."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.engine.lint import Job
from loralint.lsp.judging import Judged, look
from loralint.model import Finding, Report
from loralint.source.lines import Lines

REASON = "(say why)"
_LONGEST = 100  # columns of a line that a comment may still stand behind


def with_comment(judged: Judged, job: Job, finding: Finding) -> str | None:
    """The buffer's text with the comment; None where none works: in JSON, for tier S, inside of a text."""
    if finding.tier == "S" or finding.span.file != judged.buffer.path or finding.span.cell is not None:
        return None
    text = judged.text(finding.span.file)
    before = _standing(judged.report)
    for tried in _tries(text, finding):
        after = _standing(look(tried, judged.buffer, job, judged.around))
        if after == before - {_identity(finding)}:
            return tried
    return None


def _tries(text: str, finding: Finding) -> Iterator[str]:
    """Behind its line, on a line above, above the command that goes on over several lines, for the whole file."""
    lines = Lines(text)
    start, end = _line(lines, finding.span.line)
    comment = f"# loralint: ignore[{finding.rule}] {REASON}"
    indent = text[start : len(text) - len(text[start:].lstrip(" \t"))]
    newline = "\r\n" if "\r\n" in text else "\n"
    if end - start + len(comment) <= _LONGEST:
        yield f"{text[:end]}  {comment}{text[end:]}"
    yield f"{text[:start]}{indent}{comment}{newline}{text[start:]}"
    head = 0 if not text.startswith("#!") else _line(lines, 2)[0]
    yield f"{text[:head]}# loralint: ignore-file[{finding.rule}] {REASON}{newline}{text[head:]}"


def _line(lines: Lines, number: int) -> tuple[int, int]:
    """Start of a line, and its end before the break."""
    starts, text = lines.starts, lines.text
    start = starts[min(number, len(starts)) - 1]
    end = starts[number] if number < len(starts) else len(text)
    return start, start + len(text[start:end].rstrip("\r\n"))


def _standing(report: Report) -> set[tuple[str, str, str]]:
    """What stands, by marks that do not change when a line is put in."""
    return {_identity(one) for run in report.runs for one in run.findings if one.suppressed is None}


def _identity(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.key, finding.span.file
