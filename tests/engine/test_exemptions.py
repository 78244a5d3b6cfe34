from __future__ import annotations

import pytest

from loralint.api import check
from loralint.engine.settings import Settings
from loralint.engine.settings_file import Exemption

TEXT = "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 32\nlearning_rate: 2e-4\n"


@pytest.fixture
def lifted(linted, rule, tmp_path):
    """lifted(tier, ...) -> how the only finding of a rule LL990 in experiments/a/config.yaml is suppressed."""

    def run(tier="A", name="experiments/a/config.yaml", today="2026-01-15", **given):
        settings = Settings(root=str(tmp_path), **given)
        run = linted(TEXT, rule(at=("adapter.rank",), tier=tier), name=name, settings=settings, today=today)
        return run.findings[0].suppressed, run.verdict

    return run


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("experiments/**", True), ("experiments/", True), ("*.yaml", True), ("config.yaml", True), ("a/", True),
        ("/experiments/a/config.yaml", True), ("experiments/*/config.yaml", True), ("/config.yaml", False),
        ("experiments/*.yaml", False), ("*.json", False), ("other/**", False),
    ],
)  # fmt: skip
def test_patterns_are_those_of_gitignore(lifted, pattern, matches):
    suppressed, verdict = lifted(per_file_ignores=((pattern, ("LL990",)),))
    assert (suppressed is not None) is matches
    assert verdict == ("pass" if matches else "review")
    if suppressed:
        assert suppressed == {"by": "settings", "reason": f"per-file-ignores {pattern}"}


@pytest.mark.parametrize(
    ("code", "matches"), [("LL990", True), ("ll990", True), ("LL99", True), ("LL98", False), ("LL206", False)]
)
def test_codes_and_prefixes(lifted, code, matches):
    assert (lifted(per_file_ignores=(("*", (code,)),))[0] is not None) is matches


def test_per_file_ignores_do_not_lift_tier_s(lifted):
    assert lifted("S", per_file_ignores=(("*", ("LL990",)),)) == (None, "block")


@pytest.mark.parametrize("tier", ["S", "A", "B"])
def test_a_dated_exception_lifts_any_tier(lifted, tier):
    one = Exemption("LL990", "experiments/**", "see ticket 7", "2026-01-15")
    assert lifted(tier, exceptions=(one,)) == (
        {"by": "settings", "reason": "see ticket 7", "expires": "2026-01-15"}, "pass"
    )  # fmt: skip


def test_an_expired_exception_does_not_count(lifted):
    one = Exemption("LL990", "experiments/**", "see ticket 7", "2026-01-15")
    assert lifted("S", exceptions=(one,), today="2026-01-16") == (None, "block")


def test_an_exception_is_for_its_path(lifted):
    one = Exemption("LL990", "configs/**", "see ticket 7", "2027-01-01")
    assert lifted("S", exceptions=(one,)) == (None, "block")


def test_a_file_outside_the_root_is_not_matched_by_its_own_folders(lifted, tmp_path):
    settings = {"per_file_ignores": (("/config.yaml", ("LL990",)),)}
    assert lifted(name="config.yaml", **settings)[0] is not None
    assert lifted(name="../config.yaml", **settings)[0] is None


def test_an_exception_that_has_ended_says_so(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 0\nlora_target_linear: true\n")
    late = Exemption("LL206", "*.yaml", "swept", "2020-01-31")
    settings = Settings(root=str(tmp_path), exceptions=(late,))
    (run,) = check(path, settings=settings).runs
    assert "LL206" in [one.rule for one in run.findings if one.suppressed is None]
    assert "the exception for LL206 ended on 2020-01-31: swept" in [note.message for note in run.notes]
