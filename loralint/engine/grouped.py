"""Keywords of a call, or flags of a command, that a newer release takes otherwise: one finding, the others beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loralint.engine.score import score
from loralint.knowledge.rules import Rule
from loralint.model import Edit, Finding, Fix, Related, Run
from loralint.source.document import Document

_KINDS = frozenset({"renamed", "removed"})


def together(run: Run, rules: Iterable[Rule], parts: Sequence[Document]) -> Run:
    """The run, with those findings together that such a rule has at keywords of one call, or at flags that one change
    renamed. parts: its files.

    What a comment lifts stays by itself, so that it is the line of a comment that is lifted and no other.
    """
    texts = {part.file: part.text for part in parts}
    programs = {part.file for part in parts if part.format in ("python", "notebook")}
    codes = {rule.id for rule in rules if rule.uses == "observation" and str(rule.args.get("kind")) in _KINDS}
    groups: dict[object, list[Finding]] = {}
    for index, one in enumerate(run.findings):
        call = one.key.rpartition(".")[0] if one.span.file in programs else ""
        cause = one.message.replace(f"`{one.key}`", "") if _is_flag(one, texts) else call
        alike = one.rule in codes and cause and one.suppressed is None
        key = (one.rule, one.tier, one.span.file, one.span.cell, cause) if alike else index
        groups.setdefault(key, []).append(one)
    findings = [_as_one(several, "flag" if _is_flag(several[0], texts) else "keyword") for several in groups.values()]
    return run._replace(findings=tuple(findings), score=score(findings))


def _is_flag(one: Finding, texts: Mapping[str, str]) -> bool:
    return one.span.cell is None and texts.get(one.span.file, "")[one.span.start : one.span.start + 1] == "-"


_WHOLE = {"flag": "command", "keyword": "call"}


def _as_one(several: list[Finding], what: str) -> Finding:
    first, *others = sorted(several, key=lambda one: one.span.start)
    if not others:
        return first
    more = f"{len(others)} more {what}{'s' if len(others) > 1 else ''} of the {_WHOLE[what]}"
    beside = [Related(one.span.file, one.span.line, one.key, one.help, one.span.cell) for one in others]
    return first._replace(
        message=f"{first.message}; so it is with {more}",
        help=f"{first.help}; the others as said above",
        related=(*first.related, *beside),
        fix=_fix(several),
    )


def _fix(several: list[Finding]) -> Fix | None:
    """The edits of all of them in one; what would meet an edit before it is left for the next time."""
    fixes = [one.fix for one in several if one.fix is not None]
    kept: list[Edit] = []
    for fix in fixes:
        if all(edit.end <= one.start or one.end <= edit.start for edit in fix.edits for one in kept):
            kept += fix.edits
    return Fix(all(one.safe for one in fixes), tuple(kept)) if fixes else None
