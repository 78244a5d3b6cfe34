"""Findings, notes and settings in the words of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from loralint.knowledge.data import entries
from loralint.model import TIERS, Finding, Note, Report, Run, Setting, Unknown, Value
from loralint.render.frame import frame
from loralint.render.html.patch import patch
from loralint.render.json_v1 import safe
from loralint.render.style import Style
from loralint.source.shown import path, shown

_PLAIN = Style(on=False)
_MOST = 4000  # characters of a sentence
_DEFAULTS = ("default", "derived")


class Told(NamedTuple):
    """A finding. code: (kind, line) of the frame. lifted: what lifts it, in words. overridden: the rule's own tier."""

    tier: str
    rule: str
    name: str
    effect: str
    cause: str
    help: str
    where: str
    origin: str
    code: list[tuple[str, str]]
    also: list[str]
    patch: list[tuple[str, str]]
    safe: bool
    lifted: str
    overridden: str


class Row(NamedTuple):
    """A setting. origin: in words. hides: what it hides."""

    parameter: str
    key: str
    value: str
    origin: str
    hides: list[str]


def told(finding: Finding, report: Report) -> Told:
    """A finding in words."""
    effect, _, cause = shown(finding.message, _MOST).partition(": ")
    return Told(
        finding.tier, finding.rule, finding.name, _sentence(effect), _sentence(cause),
        _sentence(shown(finding.help, _MOST)),
        place(finding.span.file, finding.span.line, finding.span.cell),
        _unwritten(finding),
        list(_code(finding, report)),
        [
            f"{place(one.file, one.line, one.cell)} {shown(one.key)} {shown(one.message, _MOST)}"
            for one in finding.related
        ],
        patch(finding.fix, report),
        finding.fix is not None and finding.fix.safe,
        _lifted(finding.suppressed),
        finding.overridden,
    )  # fmt: skip


def place(file: str, line: int, cell: int | None) -> str:
    """Where something stands; a line of a notebook counts in its cell."""
    return f"{path(file)}:{line}" if cell is None else f"{path(file)} cell {cell}:{line}"


def by_tier(findings: Iterable[Finding]) -> list[Finding]:
    """Worst first, then by line."""
    return sorted(findings, key=lambda one: (TIERS.index(one.tier), one.span.file, one.span.line))


def unchecked(notes: Iterable[Note]) -> list[tuple[str, tuple[str, ...]]]:
    """(reason, rules) of what was not checked, most rules first."""
    found = [(_sentence(shown(one.message, _MOST)), one.rules) for one in notes if one.kind == "not-checked"]
    return sorted(found, key=lambda one: -len(one[1]))


def information(notes: Iterable[Note]) -> list[str]:
    """Notes that are no findings."""
    return [_sentence(shown(one.message, _MOST)) for one in notes if one.kind != "not-checked"]


def settings(run: Run) -> tuple[list[Row], list[Row]]:
    """The effective settings that somebody wrote, and those left at the framework's defaults."""
    valued = [one for one in run.settings if one.value.origin != "absent"]
    several = len(run.files) > 1
    written = [_row(one, several) for one in valued if one.value.origin not in _DEFAULTS]
    return written, [_row(one, several) for one in valued if one.value.origin in _DEFAULTS]


def reasons(rules: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Code of a rule -> paragraphs of why, and sources."""
    cold: Mapping[str, Any] = entries("rules_cold", rules)
    return {
        code: {
            "why": [" ".join(one.split()) for one in about["why"].split("\n\n") if one.strip()],
            "sources": [" ".join(one.split()) for one in about["sources"]],
        }
        for code, about in cold.items()
    }


def _row(one: Setting, several: bool) -> Row:
    value = one.value
    hides = [f"{shown(other.key)}: {_value(other)}{_at(other, several)}" for other in value.shadowed]
    return Row(one.parameter, shown(value.key), _value(value), _origin(value, several), hides)


def _value(value: Value) -> str:
    return shown(value.value if isinstance(value.value, Unknown) else safe(value.value, value.key), 120)


def _at(value: Value, several: bool) -> str:
    if value.span is None:
        return ""
    return f" ({path(value.span.file)}:{value.span.line})" if several else f" (line {value.span.line})"


def _origin(value: Value, several: bool) -> str:
    if value.origin in ("default", "option") and value.source:
        return f"default of {value.source}" if value.origin == "default" else value.source
    return f"{value.origin}{_at(value, several)}"


def _code(finding: Finding, report: Report) -> Iterator[tuple[str, str]]:
    lines = [line[2:] for line in frame(report.text(finding.span), finding.span, _PLAIN)]
    for line in lines:
        number, _, rest = line.partition("|")
        yield ("caret" if not number.strip() and not rest.strip(" ^") else "line"), line


def _unwritten(finding: Finding) -> str:
    if finding.origin == "default":
        return f"`{shown(finding.key)}` is not written; this is the default"
    return f"`{shown(finding.key)}` is not written" if finding.origin == "absent" else ""


def _lifted(said: Mapping[str, str] | None) -> str:
    if said is None:
        return ""
    by = {"inline": "a comment", "settings": "the settings", "baseline": "the baseline"}.get(said["by"], said["by"])
    until = f" until {shown(said['expires'])}" if "expires" in said else ""
    return f"lifted by {by}{until}{': ' + shown(said['reason'], 400) if said.get('reason') else ''}"


def _sentence(text: str) -> str:
    """With a capital, unless the text starts with a key or a number."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
