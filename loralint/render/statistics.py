"""How often each rule fires."""

from __future__ import annotations

from collections import Counter

from loralint.model import TIERS, Report


def render(report: Report, *, color: bool) -> str:
    """count, tier, rule, name; most frequent of the worst tier first."""
    del color
    counts = Counter(
        (TIERS.index(finding.tier), finding.rule, finding.name)
        for run in report.runs
        for finding in run.findings
        if finding.suppressed is None
    )
    rows = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    return "".join(f"{count:6}  {TIERS[tier]}  {rule}  {name}\n" for (tier, rule, name), count in rows)
