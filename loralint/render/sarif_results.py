"""Findings as SARIF results."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

from loralint.model import Edit, Finding, Related, Report
from loralint.render.json_v1 import safe, shareable
from loralint.render.spot import fingerprint, inside, region, region_of, uri
from loralint.source.secrets import redact
from loralint.source.shown import shown

ROOT = "%SRCROOT%"
LEVELS = {"S": "error", "A": "warning", "B": "note"}
RANKS = {"S": 100.0, "A": 60.0, "B": 20.0}  # of 100; says more than the level to programs that sort
_MOST = 4000  # characters of a message
_SOURCES = {"inline": "inSource"}


def result(finding: Finding, place: int, report: Report, seen: Counter[str]) -> dict[str, Any]:
    """place: of the rule among those of the run. seen: fingerprints given so far."""
    body = {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": LEVELS[finding.tier],
        "rank": RANKS[finding.tier],
        "message": {"text": f"{plain_text(finding.message)}\nhelp: {plain_text(finding.help)}"},
        "locations": [_location(finding, report)],
        "partialFingerprints": {"loralint/v1": fingerprint(finding, report, seen)},
        "suppressions": [] if finding.suppressed is None else [_suppression(finding.suppressed)],
        "properties": _properties(finding),
    }
    if finding.related:
        body["relatedLocations"] = [_related(one, number, report) for number, one in enumerate(finding.related)]
    edits = shareable(finding.fix)
    if edits:
        body["fixes"] = [_fix(edits, finding.help, report)]
    return body


def plain_text(text: str) -> str:
    """A message in which nothing is a link. In SARIF a bracket behind a backslash is none of a link's."""
    return shown(text, _MOST).replace("](", "\\](")


def location_of(name: str, root: str) -> dict[str, Any]:
    """A whole file."""
    base = {"uriBaseId": ROOT} if inside(name, root) else {}
    return {"physicalLocation": {"artifactLocation": {"uri": uri(name, root), **base}}}


def _location(finding: Finding, report: Report) -> dict[str, Any]:
    location = location_of(finding.span.file, report.root)
    place = region(finding.span, report)
    if place is not None:
        location["physicalLocation"]["region"] = _region(place, finding.span.start, finding.span.end)
    logical = _logical(finding.key, finding.span.cell)
    return {**location, "logicalLocations": logical} if logical else location


def _region(place: tuple[int, int, int, int], start: int, end: int) -> dict[str, int]:
    names = ("startLine", "startColumn", "endLine", "endColumn", "charOffset", "charLength")
    return dict(zip(names, (*place, start, end - start), strict=True))


def _logical(key: str, cell: int | None) -> list[dict[str, str]]:
    """The key, and the cell of a notebook."""
    found = [{"fullyQualifiedName": redact(key), "kind": "property"}] if key else []
    return found + ([{"name": f"cell {cell}", "kind": "element"}] if cell is not None else [])


def _related(one: Related, number: int, report: Report) -> dict[str, Any]:
    location = location_of(one.file, report.root)
    if one.cell is None:  # the line of a cell is none of the file
        location["physicalLocation"]["region"] = {"startLine": one.line}
    logical = _logical(one.key, one.cell)
    said = (
        f"{one.key} {one.message}" if one.cell is None else f"cell {one.cell}, line {one.line}: {one.key} {one.message}"
    )
    return {
        "id": number,
        "message": {"text": plain_text(said)},
        **location,
        **({"logicalLocations": logical} if logical else {}),
    }


def _suppression(suppressed: Any) -> dict[str, Any]:
    kind = _SOURCES.get(suppressed["by"], "external")
    reason = suppressed.get("reason", "")
    return {
        "kind": kind,
        "status": "accepted",
        **({"justification": plain_text(reason)} if reason else {}),
        "properties": {name: suppressed[name] for name in ("by", "expires") if name in suppressed},
    }


def _properties(finding: Finding) -> dict[str, Any]:
    body = {
        "tier": finding.tier,
        "key": redact(finding.key),
        "pointer": redact(finding.pointer),
        "parameter": finding.parameter,
        "value": safe(finding.value, finding.key),
        "origin": finding.origin,
    }
    if finding.overridden:
        body["overridden"] = finding.overridden
    if finding.fix is not None:
        body["safeFix"] = finding.fix.safe
    if finding.span.cell is not None:
        body["cell"], body["cellLine"] = finding.span.cell, finding.span.line
    return body


def _fix(edits: tuple[Edit, ...], help_: str, report: Report) -> dict[str, Any]:
    """Edits by file, in the order in which they stand there."""
    ordered = sorted(edits, key=lambda edit: (edit.file, edit.start))
    return {
        "description": {"text": plain_text(help_)},
        "artifactChanges": [
            {
                "artifactLocation": location_of(file, report.root)["physicalLocation"]["artifactLocation"],
                "replacements": [_replacement(edit, report) for edit in changes],
            }
            for file, changes in groupby(ordered, key=lambda edit: edit.file)
        ],
    }


def _replacement(edit: Edit, report: Report) -> dict[str, Any]:
    text = report.texts.get(edit.file, "")
    at = (edit.start, edit.end)
    where = (
        _region(region_of(text, *at), *at) if text else {"charOffset": edit.start, "charLength": edit.end - edit.start}
    )
    return {"deletedRegion": where, "insertedContent": {"text": edit.text}}
