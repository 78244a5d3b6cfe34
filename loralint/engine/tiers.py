"""Tiers that the settings give to rules, in place of their own; before comments and exceptions are asked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from loralint.engine.rules import refuse_unmatched, strength
from loralint.engine.settings import Settings
from loralint.knowledge.rules import all_rules, find
from loralint.model import Finding


def refuse_idle(settings: Settings) -> None:
    """Raise ValueError for a selector that matches no rule, or only rules that make notes and no findings."""
    refuse_unmatched(tuple(selector for selector, _ in settings.tiers), all_rules(), settings.file)
    for selector, _ in settings.tiers:
        if all(rule.gives == ["note"] for rule in all_rules() if strength(rule, selector)):
            raise ValueError(f"{settings.file}: `{selector}` in `tiers` has no tier: it makes notes and no findings")


def with_tiers(findings: Iterable[Finding], settings: Settings) -> list[Finding]:
    """The findings with the tiers that the settings give them, each with its rule's own beside it."""
    return [_told(finding, _tier_of(finding.rule, settings.tiers)) for finding in findings]


def _told(finding: Finding, tier: str) -> Finding:
    return finding._replace(tier=tier, overridden=finding.tier) if tier not in ("", finding.tier) else finding


@lru_cache(maxsize=1024)
def _tier_of(code: str, tiers: tuple[tuple[str, str], ...]) -> str:
    """The tier by the longest selector that matches, of two as long the last one; empty when none does."""
    rule = find(code)
    found = [(strength(rule, selector), place, tier) for place, (selector, tier) in enumerate(tiers)] if rule else []
    how, _, tier = max(found, default=(0, 0, ""))
    return tier if how else ""
