"""JSON, version 1: fields may be added, never renamed. The schema ships as loralint/_data/report.schema.json."""

from __future__ import annotations

import json
import math
from typing import Any

from loralint.model import Edit, Finding, Fix, Note, Report, Run, Table, Unknown, Value
from loralint.source.secrets import mask, redact
from loralint.version import __version__


def render(report: Report, *, color: bool) -> str:
    """One object; lines and columns count from 1, offsets and columns in code points."""
    del color
    body = {
        "version": 1,
        "tool": {"name": "loralint", "version": __version__},
        "runs": [_run(run) for run in report.runs],
    }
    # ASCII only: an output that knows fewer characters would put escapes of its own there, which are no JSON
    return json.dumps(body, indent=1) + "\n"


def _run(run: Run) -> dict[str, Any]:
    body = {
        "files": list(run.files),
        "framework": run.framework,
        "recognised_by": run.recognised_by or None,
        "score": run.score,
        "verdict": run.verdict,
        "findings": [_finding(finding) for finding in run.findings],
        "notes": [_note(note) for note in run.notes],
    }
    if run.settings:
        body["settings"] = [{"parameter": one.parameter, **setting(one.value)} for one in run.settings]
    if run.tables:
        body["tables"] = [_table(table) for table in run.tables]
    if run.series:
        body["series"] = [one._asdict() for one in run.series]
    return body


def _table(table: Table) -> dict[str, Any]:
    return {**table._asdict(), "rows": [[safe(cell, "") for cell in row] for row in table.rows]}


def _finding(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {
        "rule": finding.rule,
        "name": finding.name,
        "tier": finding.tier,
        "overridden": finding.overridden or None,
        "message": finding.message,
        "help": finding.help,
        "file": span.file,
        "cell": span.cell,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "start": span.start,
        "end": span.end,
        "key": redact(finding.key),
        "pointer": redact(finding.pointer),
        "parameter": finding.parameter,
        "value": safe(finding.value, finding.key),
        "origin": finding.origin,
        "related": [{**one._asdict(), "key": redact(one.key)} for one in finding.related],
        "fix": _fix(finding.fix),
        "suppressed": None if finding.suppressed is None else dict(finding.suppressed),
    }


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    edits = shareable(fix)
    return {"safe": fix.safe, "edits": [edit._asdict() for edit in edits]} if fix and edits else None


def shareable(fix: Fix | None) -> tuple[Edit, ...]:
    """The edits of a fix; none where they would copy a secret."""
    if fix is None or any(redact(edit.text) != edit.text for edit in fix.edits):
        return ()
    return fix.edits


def _note(note: Note) -> dict[str, Any]:
    return {"kind": note.kind, "message": note.message, "rules": list(note.rules), "key": redact(note.key) or None}


def setting(value: Value) -> dict[str, Any]:
    """A row of the effective settings."""
    return {
        "key": redact(value.key) or None,
        "value": safe(value.value, value.key),
        "origin": value.origin,
        "source": value.source or None,
        "line": value.span.line if value.span else None,
        "shadowed": [
            {"key": redact(one.key), "value": safe(one.value, one.key), "origin": one.origin} for one in value.shadowed
        ],
    }


def safe(value: object, key: str) -> object:
    """JSON without secrets, null for what is unknown, and text for NaN, which JSON has no word for."""
    if isinstance(value, str):
        return mask(key, value)
    if isinstance(value, Unknown):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [safe(one, key) for one in value]
    if isinstance(value, dict):
        return {redact(str(name)): safe(one, str(name)) for name, one in value.items()}
    return value if isinstance(value, (int, float, bool, type(None))) else redact(str(value))
