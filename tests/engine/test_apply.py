"""Fixes of several findings in one file."""

from __future__ import annotations

from loralint.engine.apply import fixed_texts
from loralint.model import Edit, Finding, Fix, Span


def finding(tier, *edits, safe=True, suppressed=None):
    span = Span("a", 0, 0, 1, 1, 1, 1)
    fix = Fix(safe, tuple(Edit(*edit) for edit in edits))
    return Finding("LL1", "x", tier, "", "", span, "", "", "", None, "set", (), fix, suppressed)


TEXTS = {"a": "0123456789", "b": "abc"}


def test_the_graver_of_two_that_meet_is_made():
    findings = [finding("B", ("a", 2, 4, "B")), finding("S", ("a", 3, 5, "S")), finding("A", ("a", 6, 7, "A"))]
    assert fixed_texts(findings, TEXTS) == {"a": "012S5A789"}


def test_a_fix_is_made_whole_or_not_at_all():
    findings = [finding("S", ("a", 0, 1, "x")), finding("A", ("b", 0, 1, "y"), ("a", 0, 2, "z"))]
    assert fixed_texts(findings, TEXTS) == {"a": "x123456789"}


def test_only_safe_ones_unless_asked():
    findings = [finding("S", ("a", 0, 1, "x"), safe=False)]
    assert fixed_texts(findings, TEXTS) == {}
    assert fixed_texts(findings, TEXTS, unsafe=True) == {"a": "x123456789"}


def test_what_is_lifted_stays():
    assert fixed_texts([finding("A", ("a", 0, 1, "x"), suppressed={"by": "inline"})], TEXTS) == {}


def test_the_same_edit_twice_is_one():
    assert fixed_texts([finding("S", ("a", 0, 1, "x")), finding("A", ("a", 0, 1, "x"))], TEXTS) == {"a": "x123456789"}
