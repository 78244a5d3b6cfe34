from __future__ import annotations

import pytest

from loralint.engine.rules import among, select
from loralint.knowledge.rules import all_rules, find


def _ids(*, chosen=(), ignored=(), preview=False, rules=None):
    return [rule.id for rule in among(rules or all_rules(), tuple(chosen), tuple(ignored), preview)]


def test_without_selectors_all_stable_rules_run():
    assert _ids() == [rule.id for rule in all_rules() if not rule.preview]


def test_rules_come_by_id_each_once():
    ids = [rule.id for rule in all_rules()]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("word", ["LL206", "ll206", "alpha-zero", " LL206 "])
def test_find_takes_a_code_in_any_case_or_a_name(word):
    word = find("LL206").name if word == "alpha-zero" else word
    assert find(word).id == "LL206"


def test_find_knows_no_other_words():
    assert find("LL999") is None
    assert find("") is None
    assert find("LL2") is None


@pytest.mark.parametrize("selector", ["LL206", "ll206"])
def test_select_by_code(selector):
    assert _ids(chosen=[selector]) == ["LL206"]


def test_select_by_name():
    assert _ids(chosen=[find("LL431").name]) == ["LL431"]


def test_select_by_prefix():
    found = _ids(chosen=["LL00"])
    assert found
    assert all(one.startswith("LL00") for one in found)
    assert found == [one for one in _ids() if one.startswith("LL00")]


def test_select_by_topic():
    assert set(_ids(chosen=["keys"])) == {rule.id for rule in all_rules() if rule.topic == "keys"}


@pytest.mark.parametrize("tier", ["S", "A", "B", "s"])
def test_select_by_tier_takes_rules_that_may_give_it(tier):
    wanted = {rule.id for rule in all_rules() if tier.upper() in rule.gives}
    assert set(_ids(chosen=[tier])) == wanted


def test_all_selects_everything_and_ignores_everything():
    assert _ids(chosen=["ALL"]) == _ids()
    assert _ids(ignored=["ALL"]) == []


def test_the_longer_selector_wins():
    assert "LL206" not in _ids(ignored=["LL206"])
    assert _ids(chosen=["LL206"], ignored=["LL2"]) == ["LL206"]
    assert "LL206" not in _ids(chosen=["LL2"], ignored=["LL206"])
    assert _ids(chosen=["LL206"], ignored=["ALL"]) == ["LL206"]
    assert _ids(chosen=["LL206"], ignored=["S"]) == ["LL206"]


def test_ignore_wins_a_tie():
    assert _ids(chosen=["LL206"], ignored=["LL206"]) == []
    assert _ids(chosen=["ALL"], ignored=["ALL"]) == []


def test_a_selector_that_matches_nothing_is_an_error():
    with pytest.raises(ValueError, match="no rule matches `LL999`; `loralint rules` lists them"):
        _ids(chosen=["LL999"])
    with pytest.raises(ValueError, match="`zebra`"):
        _ids(ignored=["zebra"])
    with pytest.raises(ValueError, match="``"):
        _ids(chosen=[""])


def test_preview_rules_run_only_when_asked_for(rule):
    rules = (rule(id="LL991", preview=True), rule(id="LL992"))
    assert _ids(rules=rules) == ["LL992"]
    assert _ids(rules=rules, preview=True) == ["LL991", "LL992"]


def test_the_same_words_give_the_same_rules():
    assert select(("LL2",), (), False) is select(("LL2",), (), False)
    assert select(("LL2",), ("LL206",), False) == among(all_rules(), ("LL2",), ("LL206",), False)
