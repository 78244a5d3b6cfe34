from __future__ import annotations

import pytest

from loralint.engine.score import score, standing, verdict
from loralint.model import Finding, Span


def _finding(tier, key="k", rule="LL900", suppressed=None):
    span = Span("f", 0, 1, 1, 1, 1, 2)
    return Finding(rule, "n", tier, "m", "h", span, key, "/k", "", None, "set", suppressed=suppressed)


S, A, B = (_finding(tier, tier) for tier in "SAB")


@pytest.mark.parametrize(
    ("findings", "points", "word"),
    [
        ([], 100, "pass"),
        ([B], 97, "pass"),
        ([B, _finding("B", "other")], 94, "pass"),
        ([A], 85, "review"),
        ([A, B], 82, "review"),
        ([S], 49, "block"),
        ([S, A], 45, "block"),
        ([S, A, B], 42, "block"),
        ([S, _finding("S", "other")], 20, "block"),
        ([_finding("S", str(n)) for n in range(5)], 0, "block"),
    ],
)
def test_documented_numbers(findings, points, word):
    assert (score(findings), verdict(findings)) == (points, word)


def test_the_same_fault_costs_once():
    assert score([B, B, B]) == 97
    assert score([B, _finding("B", "B", "LL901")]) == 94


def test_what_is_suppressed_does_not_count():
    lifted = _finding("S", suppressed={"by": "settings", "reason": "x"})
    assert (score([lifted]), verdict([lifted]), standing([lifted, B])) == (100, "pass", [B])
