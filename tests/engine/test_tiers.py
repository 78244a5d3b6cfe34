from __future__ import annotations

import pytest

from loralint.api import check
from loralint.engine.settings import Settings
from loralint.knowledge.rules import all_rules

TEXT = "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 32\nlora_target_linear: true\nlearning_rate: 2e-4\n"
BLOCKED = TEXT.replace("lora_r: 16", "lora_r: 0")  # LL304, tier S


@pytest.fixture
def judged(tmp_path):
    """judged(text, (selector, tier) ...) -> {rule: (tier, its own)} and the verdict of the run."""

    def run(text, *tiers):
        file = tmp_path / "config.yaml"
        file.write_text(text, encoding="utf-8")
        settings = Settings(root=str(tmp_path), file=str(tmp_path / "loralint.toml"), tiers=tiers)
        (found,) = check(file, settings=settings).runs
        return {one.rule: (one.tier, one.overridden) for one in found.findings}, found.verdict, found.score

    return run


def test_without_settings_a_rule_keeps_its_tier(judged):
    assert judged(BLOCKED) == ({"LL304": ("S", "")}, "block", 49)


@pytest.mark.parametrize("selector", ["LL304", "ll304", "LL3", "rank-not-positive", "ALL", "S", "alpha"])
def test_selectors_are_those_of_select(judged, selector):
    topic = next(rule.topic for rule in all_rules() if rule.id == "LL304")
    selector = topic if selector == "alpha" else selector
    assert judged(BLOCKED, (selector, "A")) == ({"LL304": ("A", "S")}, "review", 85)


def test_the_longer_selector_wins_and_of_two_as_long_the_last(judged):
    assert judged(BLOCKED, ("LL304", "B"), ("LL3", "A"))[0] == {"LL304": ("B", "S")}
    assert judged(BLOCKED, ("LL304", "B"), ("ll304", "A"))[0] == {"LL304": ("A", "S")}


def test_the_tier_that_a_rule_has_anyway_is_no_override(judged):
    assert judged(BLOCKED, ("LL304", "S"))[0] == {"LL304": ("S", "")}


def test_a_comment_lifts_what_the_settings_made_a_and_not_what_they_made_s(judged):
    text = BLOCKED.replace("lora_r: 0", "lora_r: 0  # loralint: ignore[LL304] a test of the harness")
    assert judged(text, ("LL304", "A"))[1] == "pass"
    text = TEXT + "zebra: 1  # loralint: ignore[LL102] of another tool\n"
    assert judged(text)[1] == "pass"
    assert judged(text, ("LL102", "S"))[1] == "block"


def test_findings_about_comments_have_tiers_too(judged):
    text = TEXT + "# loralint: ignore[LL304] nothing to ignore\nseed: 1\n"
    ((rule, (tier, _)),) = judged(text)[0].items()
    assert (rule, tier) == ("LL005", "B")
    assert judged(text, ("LL005", "A"))[0] == {"LL005": ("A", "B")}


@pytest.mark.parametrize(
    ("selector", "message"),
    [("LL000", "no rule matches `LL000`"), ("LL326", "`LL326` in `tiers` has no tier: it makes notes and no findings")],
)
def test_a_name_that_would_change_nothing_is_an_error(judged, selector, message):
    with pytest.raises(ValueError, match=message):
        judged(TEXT, (selector, "A"))
