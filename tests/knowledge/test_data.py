from __future__ import annotations

from loralint.knowledge.data import entries, part


def test_single_entries_are_those_of_the_whole_part():
    whole = part("rules_cold")
    assert entries("rules_cold", whole) == whole


def test_what_a_part_lacks_is_left_out():
    assert list(entries("rules_cold", ["LL101", "LL000"])) == ["LL101"]
