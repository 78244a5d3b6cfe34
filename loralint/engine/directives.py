"""Ignore comments: `# loralint: ignore[LL214] reason` for its own or the next line, `ignore-file[...]` for the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loralint.knowledge.rules import find
from loralint.model import Finding, Note, Observation, Span, Value
from loralint.source.document import Comment, Document

_DIRECTIVE = re.compile(r"loralint:\s*(ignore-file|ignore)\s*(?:\[([^\]]*)\])?\s*(.*)")
# what other linters call it, or a colon forgotten: meant to ignore, and it does not
_MEANT = re.compile(r"loralint\W{0,3}(?:ignore|disable|noqa|skip|suppress)", re.IGNORECASE)


class Directive(NamedTuple):
    """One code of one comment. line: the line it speaks of; 0 for the whole file."""

    code: str
    line: int
    reason: str
    span: Span


def directives(document: Document) -> list[Directive]:
    """All of a file's ignore comments, one record for each code they name."""
    return [one for comment in document.comments() for one in _parse(comment, document)]


def _parse(comment: Comment, document: Document) -> Iterator[Directive]:
    match = _DIRECTIVE.match(comment.text)
    if match is None and _MEANT.match(comment.text) is None:
        return
    scope, codes, reason = match.groups() if match is not None else ("ignore", "", "")
    line = 0 if scope == "ignore-file" else comment.line + comment.own_line
    start, end, column = comment.start, comment.end, comment.column
    here = comment.line
    span = Span(document.file, start, end, here, column, here, column + end - start)
    for code in dict.fromkeys(map(str.strip, (codes or "").split(","))):
        yield Directive(code, line, reason.strip(), span)


def faults(given: Iterable[Directive], used: frozenset[Directive], checked: frozenset[str]) -> Iterator[Observation]:
    """Ignores without a code, of unknown rules, and those that nothing needed. checked: rules that gave an answer."""
    for one in given:
        place = Value(one.code, span=one.span, text=one.code, key="loralint: ignore")
        if not one.code:
            message = "an ignore comment names its rules, in brackets behind `loralint: ignore`"
            yield Observation("blanket-ignore", place, "harmless", message, "ignore[LLnnn]")
        elif (rule := find(one.code)) is None:
            yield Observation("unknown-ignore", place, "harmless", f"no rule is called `{one.code}`")
        elif one not in used and rule.id in checked:
            yield Observation("unused-ignore", place, "harmless", f"{one.code} does not fire here")


def apply_directives(
    findings: list[Finding], given: list[Directive]
) -> tuple[list[Finding], frozenset[Directive], list[Note]]:
    """Findings with those that a comment lifts marked, the comments that were needed, and what they could not lift."""
    used: set[Directive] = set()
    notes: list[Note] = []
    out = []
    places = _places(given)
    for finding in findings:
        match = places.get((finding.rule, finding.span.line))
        if match is None or match.span.file != finding.span.file:  # a line of a file of rows is none of the config's
            match = places.get((finding.rule, 0))
        if match is not None:
            used.add(match)
        if match is None or finding.tier == "S":
            notes += [_not_lifted(finding)] if match is not None else []
            out.append(finding)
        else:
            out.append(finding._replace(suppressed={"by": "inline", "reason": match.reason}))
    return out, frozenset(used), notes


def hushed(notes: list[Note], given: list[Directive]) -> tuple[list[Note], frozenset[Directive]]:
    """The notes that no comment names, and the comments that were needed; a note speaks of the file, not of a line."""
    codes = {rule.id: one for one in given if one.code and (rule := find(one.code)) is not None}
    used = {codes[code] for note in notes if note.kind == "info" for code in note.rules if code in codes}
    return [note for note in notes if note.kind != "info" or not codes.keys() & set(note.rules)], frozenset(used)


def _places(given: list[Directive]) -> dict[tuple[str, int], Directive]:
    """The first comment for each rule and line; line 0 is the whole file."""
    places: dict[tuple[str, int], Directive] = {}
    for one in given:
        rule = find(one.code)
        if rule is not None:
            places.setdefault((rule.id, one.line), one)
    return places


def _not_lifted(finding: Finding) -> Note:
    return Note(
        "info",
        f"a comment does not lift {finding.rule}, which is tier S; an exception in the settings does, "
        "with a reason and a date of expiry",
        (finding.rule,),
        finding.key,
    )
