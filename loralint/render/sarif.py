"""SARIF 2.1.0, as forges and editors read it (OASIS, docs.oasis-open.org/sarif/sarif/v2.1.0).

Paths are relative to the root of the repository, whose own place is left out: a log then tells nobody's home folder
and is the same on every machine. A lifted finding is a result with its suppression.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from loralint.model import Note, Report, Run
from loralint.render.sarif_results import ROOT, location_of, plain_text, result
from loralint.render.sarif_rules import descriptors
from loralint.render.spot import inside, named, uri
from loralint.render.standing import told
from loralint.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_KINDS = (("info", "Information that is no finding."), ("not-checked", "What could not be checked, and why."))


def render(report: Report, *, color: bool) -> str:
    """One log with one run in one line."""
    del color
    # ASCII only: whatever takes the output, no escape of its own can break the JSON
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}) + "\n"


def _run(report: Report) -> dict[str, Any]:
    found = [one for _, findings in told(report) for one in findings]
    rules = {one.rule: one.name for one in found}
    places = {rule: place for place, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    return {
        "tool": {"driver": _driver(rules)},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "artifacts": [_artifact(name, report.root) for name in _files(report)],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": [result(one, places[one.rule], report, seen) for one in found],
        "properties": {"runs": [_judged(run, report.root) for run in report.runs]},
    }


def _driver(rules: dict[str, str]) -> dict[str, Any]:
    return {
        "name": "loralint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": list(descriptors(rules)),
        "notifications": [{"id": kind, "shortDescription": {"text": text}} for kind, text in _KINDS],
    }


def _invocation(report: Report) -> dict[str, Any]:
    code = {} if report.exit_code is None else {"exitCode": report.exit_code}
    return {"executionSuccessful": True, **code, "toolExecutionNotifications": list(_notifications(report))}


def _notifications(report: Report) -> Iterator[dict[str, Any]]:
    """Each reason once, with the files that it holds for."""
    files: dict[Note, dict[str, None]] = {}
    for run in report.runs:
        for note in run.notes:
            files.setdefault(note._replace(key=""), {}).update(dict.fromkeys(run.files[:1]))
    for note, names in files.items():
        rule = {"associatedRule": {"id": note.rules[0]}} if len(note.rules) == 1 else {}
        yield {
            "descriptor": {"id": note.kind},
            "level": "note",
            "message": {"text": plain_text(note.message)},
            "locations": [location_of(name, report.root) for name in names],
            **rule,
            "properties": {"rules": list(note.rules)},
        }


def _files(report: Report) -> dict[str, None]:
    """Every file that was read or that a finding stands in, once."""
    read = dict.fromkeys(name for run in report.runs for name in run.files)
    return read | dict.fromkeys(one.span.file for run in report.runs for one in run.findings)


def _artifact(name: str, root: str) -> dict[str, Any]:
    base = {"uriBaseId": ROOT} if inside(name, root) else {}
    return {"location": {"uri": uri(name, root), **base}, "roles": ["analysisTarget"]}


def _judged(run: Run, root: str) -> dict[str, Any]:
    return {
        "files": [named(name, root) for name in run.files],
        "framework": run.framework,
        "score": run.score,
        "verdict": run.verdict,
    }
