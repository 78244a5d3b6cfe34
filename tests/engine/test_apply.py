"""Fixes of several findings in one pass."""

from __future__ import annotations

from loralint.engine.apply import all_edits, choose
from loralint.model import Edit, Finding, Fix, Span
from loralint.source.edit import apply

TEXTS = {"a": "0123456789", "b": "abc"}


def finding(tier, *edits, key=""):
    span = Span("a", 0, 0, 1, 1, 1, 1)
    fix = Fix(True, tuple(Edit(*edit) for edit in edits))
    return Finding("LL1", "x", tier, "", "", span, key, "", "", None, "set", (), fix)


def made(*findings):
    edits = all_edits(choose(findings))
    return {file: apply(TEXTS[file], several) for file, several in edits.items()}


def test_the_graver_of_two_that_meet_is_made():
    findings = [finding("B", ("a", 2, 4, "B")), finding("S", ("a", 3, 5, "S")), finding("A", ("a", 6, 7, "A"))]
    assert made(*findings) == {"a": "012S5A789"}


def test_a_fix_is_made_whole_or_not_at_all():
    findings = [finding("S", ("a", 0, 1, "x")), finding("A", ("b", 0, 1, "y"), ("a", 0, 2, "z"))]
    assert made(*findings) == {"a": "x123456789"}


def test_the_same_edit_twice_is_one_and_both_findings_are_fixed_by_it():
    first, second = finding("S", ("a", 0, 1, "x"), key="one"), finding("A", ("a", 0, 1, "x"), key="two")
    assert made(first, second) == {"a": "x123456789"}
    assert [(one.finding.key, dict(one.edits)) for one in choose([second, first])] == [
        ("one", {"a": (Edit("a", 0, 1, "x"),)}),
        ("two", {}),
    ]


def test_a_finding_without_a_fix_is_chosen_with_nothing_to_do():
    assert all_edits(choose([finding("S")._replace(fix=None)])) == {}
