"""Findings as an editor shows them: the first line what will happen to the run, the last what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lsprotocol import types

from loralint.knowledge.data import part
from loralint.knowledge.rules import find
from loralint.lsp.judging import Judged
from loralint.lsp.places import Places
from loralint.model import Finding, Related
from loralint.source.clean import clean

SOURCE = "loralint"
_SEVERITIES = {
    "S": types.DiagnosticSeverity.Error,
    "A": types.DiagnosticSeverity.Warning,
    "B": types.DiagnosticSeverity.Information,
}
# What was observed -> how an editor draws it besides: struck through, or faded.
_TAGS = {
    "renamed": types.DiagnosticTag.Deprecated,
    "removed": types.DiagnosticTag.Deprecated,
    "ignored": types.DiagnosticTag.Unnecessary,
    "duplicate": types.DiagnosticTag.Unnecessary,
    "unused-ignore": types.DiagnosticTag.Unnecessary,
}


def diagnostics(judged: Judged, places: Places) -> dict[str, list[types.Diagnostic]]:
    """URI -> what is to be shown there; the buffer's own is always among them, so that what is mended goes."""
    found: dict[str, list[types.Diagnostic]] = {judged.buffer.uri: []}
    if judged.fault:
        found.setdefault(places.uri(judged.blamed), []).append(_fault(judged.fault))
    for finding in judged.findings:
        found.setdefault(places.uri(finding.span.file), []).append(diagnostic(finding, places))
    return found


def diagnostic(finding: Finding, places: Places) -> types.Diagnostic:
    """One finding."""
    address = _address(finding.rule)
    return types.Diagnostic(
        places.of(finding.span.file).in_line(finding.span.start, finding.span.end),
        f"{finding.message}\n{finding.help}",
        severity=_SEVERITIES[finding.tier],
        code=finding.rule,
        code_description=types.CodeDescription(address) if address else None,
        source=SOURCE,
        tags=_tags(finding.rule) or None,
        related_information=list(_related(finding.related, places)) or None,
    )


def _fault(message: str) -> types.Diagnostic:
    return types.Diagnostic(
        types.Range(types.Position(0, 0), types.Position(0, 1)),
        f"nothing is checked: {clean(message, limit=1000)}",
        severity=types.DiagnosticSeverity.Error,
        code="settings",
        source=SOURCE,
    )


def _related(related: Iterable[Related], places: Places) -> Iterable[types.DiagnosticRelatedInformation]:
    for one in related:
        if one.cell is None:  # lines of a cell are none of the file's
            place = types.Location(places.uri(one.file), places.of(one.file).line(one.line))
            yield types.DiagnosticRelatedInformation(place, one.message or one.key)


def _address(code: str) -> str:
    """Where what the rule rests on can be read: its first source that is a page, empty for none."""
    cold: Any = part("rules_cold")
    sources = cold[code]["sources"] if code in cold else ()
    return next((one.split()[0] for one in sources if one.startswith("https://")), "")


def _tags(code: str) -> list[types.DiagnosticTag]:
    rule = find(code)
    kind: object = rule.args.get("kind") if rule is not None and isinstance(rule.args, Mapping) else None
    return [_TAGS[kind]] if isinstance(kind, str) and kind in _TAGS else []
