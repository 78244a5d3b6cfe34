from __future__ import annotations

import pytest

from loralint.engine.ratchet import lost, new_findings
from loralint.model import Finding, Span


def _finding(tier="A", file="a.yaml", value=1, line=1, message="m", rule="LL101"):
    return Finding(rule, "n", tier, message, "h", Span(file, 0, 1, line, 1, line, 2), "k", "/k", "p", value, "set")


@pytest.mark.parametrize(
    ("now", "new"),
    [
        (_finding(), 0),
        (_finding(line=9), 0),
        (_finding(tier="B"), 0),
        (_finding(tier="S"), 1),
        (_finding(value=2), 1),
        (_finding(message="m of 3"), 1),
        (_finding(file="b.yaml"), 1),
        (_finding(rule="LL102"), 1),
    ],
)
def test_what_counts_as_new(now, new):
    assert len(new_findings([_finding()], [now], {})) == new


def test_a_pinned_version_makes_no_finding_new():
    assumed = _finding(message="m, judged by transformers 5.0, which nobody pinned: n")
    assert new_findings([assumed], [_finding(message="m: n")], {}) == []
    other = _finding(message="m: o")
    assert new_findings([assumed], [other], {}) == [other]


def test_a_finding_of_the_base_covers_one():
    assert len(new_findings([_finding()], [_finding(line=1), _finding(line=2)], {})) == 1
    assert len(new_findings([_finding(), _finding("S")], [_finding("S"), _finding("A")], {})) == 0
    assert len(new_findings([_finding(), _finding("A")], [_finding("S"), _finding("A")], {})) == 1


def test_a_renamed_file_keeps_its_findings():
    assert new_findings([_finding()], [_finding(file="b.yaml")], {"a.yaml": "b.yaml"}) == []
    assert new_findings([_finding()], [_finding()], {"a.yaml": "b.yaml"}) == [_finding()]


@pytest.mark.parametrize(
    ("head", "names", "renamed", "touched", "found"),
    [
        (["a.yaml"], ["a.yaml"], {}, [], []),
        ([], [], {}, [], []),
        ([], ["a.yaml"], {}, [], [("a.yaml", "a.yaml")]),
        ([], ["a.j2"], {"a.yaml": "a.j2"}, [], [("a.yaml", "a.j2")]),
        (["b.yaml"], ["b.yaml"], {"a.yaml": "b.yaml"}, [], []),
        (["a.yaml"], ["a.yaml", "ds.json"], {}, [], []),
        (["a.yaml"], ["a.yaml", "ds.json"], {}, ["ds.json"], [("ds.json", "ds.json")]),
    ],
)
def test_what_is_lost_from_sight(head, names, renamed, touched, found):
    assert lost({"a.yaml": True, "ds.json": False}, head, names, renamed, touched) == found
