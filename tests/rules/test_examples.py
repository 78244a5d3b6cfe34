"""Every example of every rule: what is bad gives the finding at its place, what is good gives none, fixes fix."""

from __future__ import annotations

from pathlib import Path

import pytest

import loralint
from loralint.authoring.compile import read_rules
from loralint.authoring.examples import Unrunnable, faults, subject
from loralint.engine.settings import Settings

RULES = [rule for _, rule in read_rules(Path(__file__).parents[2] / "rules")]
EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.id}-{number}")
    for rule in RULES
    for number, example in enumerate(rule.examples, 1)
]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_example(rule, example, tmp_path):
    try:
        assert list(faults(subject(rule), example, str(tmp_path), Settings())) == []
    except Unrunnable as why:
        pytest.skip(str(why))


def test_there_are_rules():
    assert len(RULES) > 10
    assert [rule.id for rule in RULES] == [rule.id for rule in loralint.engine.rules.all_rules()]
