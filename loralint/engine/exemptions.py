"""What the settings lift: per-file ignores below tier S, and dated exceptions of any tier."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

from loralint.engine.rules import refuse_unmatched
from loralint.engine.settings import Settings
from loralint.engine.tiers import refuse_idle
from loralint.knowledge.rules import all_rules, find
from loralint.model import Finding, Note
from loralint.source.shown import shown


def refuse_unknown_rules(settings: Settings) -> None:
    """Raise ValueError for a name in the settings that is no rule's: what it is to lift would stay without a word."""
    refuse_unmatched((*settings.select, *settings.ignore), all_rules(), settings.file)
    refuse_idle(settings)
    lifted = [one.rule for one in settings.exceptions]
    lifted += [code for _, codes in settings.per_file_ignores for code in codes]
    for code in lifted:
        if find(code) is None and not (code and any(rule.id.startswith(code.upper()) for rule in all_rules())):
            raise ValueError(
                f"{settings.file}: no rule has the code or name `{code}`, nor does one start so; "
                "`loralint rules` lists them"
            )


def apply_settings(findings: list[Finding], settings: Settings, today: str) -> list[Finding]:
    """Mark what the settings lift. today: ISO date, on which an exception still counts."""
    return [_lifted(finding, settings, today) for finding in findings]


def expired(findings: list[Finding], settings: Settings, today: str) -> list[Note]:
    """One note for each exception that would lift something here and no longer counts."""
    return [
        Note("info", f"the exception for {one.rule} ended on {one.expires}: {shown(one.reason)}", (one.rule,))
        for one in settings.exceptions
        if today > one.expires
        and any(_names(one.rule, found) and _matcher(one.path)(_relative(found, settings)) for found in findings)
    ]


def _relative(finding: Finding, settings: Settings) -> str:
    """The finding's file as the patterns of the settings would name it."""
    return os.path.relpath(os.path.abspath(finding.span.file), settings.root)


def _lifted(finding: Finding, settings: Settings, today: str) -> Finding:
    if finding.suppressed is not None:
        return finding
    relative = _relative(finding, settings)
    for one in settings.exceptions:
        if _names(one.rule, finding) and today <= one.expires and _matcher(one.path)(relative):
            return finding._replace(suppressed={"by": "settings", "reason": one.reason, "expires": one.expires})
    if finding.tier != "S":
        for pattern, codes in settings.per_file_ignores:
            if any(_names(code, finding) for code in codes) and _matcher(pattern)(relative):
                return finding._replace(suppressed={"by": "settings", "reason": f"per-file-ignores {pattern}"})
    return finding


def _names(code: str, finding: Finding) -> bool:
    rule = find(code)
    return finding.rule.startswith(code.upper()) if rule is None else rule.id == finding.rule


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], bool]:
    """Patterns read like lines of a .gitignore."""
    from loralint.source.walk import ignore_spec

    return ignore_spec([pattern]).match_file
