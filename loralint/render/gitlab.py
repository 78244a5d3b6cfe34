"""GitLab's Code Quality report (docs.gitlab.com/ci/testing/code_quality): what the merge request widget shows.

It compares two branches by fingerprint, so that is one for each finding and outlives moved lines. Lifted findings are
left out, because the format has no word for them.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from loralint.model import Finding, Report
from loralint.render.spot import fingerprint, named, region
from loralint.render.standing import standing
from loralint.source.shown import path, shown

_SEVERITIES = {"S": "blocker", "A": "major", "B": "minor"}
_MOST = 4000  # characters of a description


def render(report: Report, *, color: bool) -> str:
    """An array, empty without findings."""
    del color
    seen: Counter[str] = Counter()
    return json.dumps([_issue(one, report, seen) for _, found in standing(report) for one in found], indent=1) + "\n"


def _issue(finding: Finding, report: Report, seen: Counter[str]) -> dict[str, Any]:
    from hashlib import sha256

    place = region(finding.span, report)
    key = fingerprint(finding, report, seen).encode("utf-8", "surrogatepass")
    cell = "" if finding.span.cell is None else f"cell {finding.span.cell}, line {finding.span.line}: "
    return {
        "type": "issue",
        "check_name": shown(f"{finding.rule} {finding.name}"),
        "description": shown(f"{cell}{finding.message}; {finding.help}", _MOST),
        "categories": ["Bug Risk"],
        "fingerprint": sha256(key).hexdigest(),
        "severity": _SEVERITIES[finding.tier],
        "location": {
            "path": path(named(finding.span.file, report.root)),
            "lines": {"begin": place.line, "end": place.end_line} if place else {"begin": 1},
        },
    }
