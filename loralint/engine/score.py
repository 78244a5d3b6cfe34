"""Score and verdict of a run.

A clean run scores 100. Each distinct (rule, key) costs once: S 40, A 15, B 3. While an S stands the score is at most
49, while an A stands at most 89. The score only orders runs; the verdict gates: block with an S, review with an A, else
pass.
"""

from __future__ import annotations

from collections.abc import Iterable

from loralint.model import Finding

COST = {"S": 40, "A": 15, "B": 3}
CAP = {"S": 49, "A": 89, "B": 100}


def standing(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that count: those that nothing suppresses."""
    return [finding for finding in findings if finding.suppressed is None]


def score(findings: Iterable[Finding]) -> int:
    """0 to 100, a pure function of the standing findings."""
    counted = {(finding.rule, finding.key): finding.tier for finding in standing(findings)}
    total = 100 - sum(COST[tier] for tier in counted.values())
    return max(0, min([total, *(CAP[tier] for tier in counted.values())]))


def verdict(findings: Iterable[Finding]) -> str:
    """block, review or pass."""
    tiers = {finding.tier for finding in standing(findings)}
    return "block" if "S" in tiers else "review" if "A" in tiers else "pass"
