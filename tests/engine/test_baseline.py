from __future__ import annotations

import json
from collections import Counter

import pytest

from loralint.engine.baseline import count, read_baseline, write_baseline
from loralint.engine.settings import SettingsError

TEXT = "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 32\nlearning_rate: 2e-4\n"
KEY = ("config.yaml", "LL990", "/lora_r")


@pytest.fixture
def one(rule):
    return rule(at=("adapter.rank",))


def _by(run):
    return [(finding.suppressed or {}).get("by") for finding in run.findings]


def test_what_is_recorded_does_not_count(linted, one, counts):
    run = linted(TEXT, one, baseline=counts(KEY))
    assert (_by(run), run.verdict, run.score) == (["baseline"], "pass", 100)


def test_a_baseline_shows_no_secret_and_takes_any_name(tmp_path, linted, one):
    token = "hf_" + "abcdefghijklmnopq" * 2
    (finding,) = [
        found._replace(span=found.span._replace(file=str(tmp_path / "odd\udcff.yaml")), pointer=f"/{token}")
        for found in linted(TEXT, one).findings
    ]
    recorded = count([finding], str(tmp_path))
    write_baseline(str(tmp_path / "baseline.json"), recorded)
    assert token not in (tmp_path / "baseline.json").read_text(encoding="utf-8")
    assert read_baseline(str(tmp_path / "baseline.json")) == recorded


def test_a_moved_line_does_not_revive_its_finding(linted, one, tmp_path):
    recorded = count(linted(TEXT, one).findings, str(tmp_path))
    assert recorded == Counter({KEY: 1})
    moved = "# a new comment\n\n" + TEXT.replace("lora_r: 16\n", "") + "lora_r: 64\n"
    assert _by(linted(moved, one, baseline=recorded)) == ["baseline"]


def test_a_second_finding_of_the_kind_counts(linted, rule, counts):
    text = TEXT.replace("lora_r: 16", "lora_r: 16\nlora_target_modules: [a, b]")
    several = rule(
        each="adapter.targets", when={"item": {"in": ["a", "b"]}}, at=("adapter.rank",), message="{get:item}"
    )
    run = linted(text, several, baseline=counts(KEY))
    assert _by(run) == ["baseline", None]
    assert run.verdict == "block"


@pytest.mark.parametrize(
    "key",
    [("other.yaml", "LL990", "/lora_r"), ("config.yaml", "LL991", "/lora_r"), ("config.yaml", "LL990", "/lora_alpha")],
)
def test_another_file_rule_or_key_is_not_covered(linted, one, counts, key):
    assert _by(linted(TEXT, one, baseline=counts(key))) == [None]


def test_what_is_left_over_is_stale(linted, one, counts):
    baseline = counts(KEY, ("config.yaml", "LL123", "/gone"))
    linted(TEXT, one, baseline=baseline)
    assert +baseline == counts(("config.yaml", "LL123", "/gone"))


def test_an_absent_key_is_known_by_its_name(linted, rule, tmp_path):
    run = linted(TEXT, rule(at=("schedule.warmup_steps",)))
    assert count(run.findings, str(tmp_path)) == Counter({("config.yaml", "LL990", "warmup_steps"): 1})


def test_what_a_comment_lifts_is_not_recorded(linted, rule, tmp_path):
    from loralint.knowledge.rules import find

    text = TEXT.replace("lora_alpha: 32", "lora_aplha: 32  # loralint: ignore[LL101] x")
    run = linted(text, find("LL101"), find("LL005"))
    assert _by(run) == ["inline"]
    assert count(run.findings, str(tmp_path)) == Counter()


def test_round_trip(tmp_path):
    path = str(tmp_path / "known.json")
    counts = Counter({("b.yaml", "LL2", "/é"): 2, ("a.yaml", "LL1", "/x"): 1, ("a.yaml", "LL0", "/gone"): 0})
    write_baseline(path, counts)
    assert read_baseline(path) == +counts
    lines = (tmp_path / "known.json").read_text(encoding="utf-8").splitlines()
    assert lines == [
        '{"version": 1, "entries": [',
        '{"file": "a.yaml", "rule": "LL1", "pointer": "/x", "count": 1},',
        '{"file": "b.yaml", "rule": "LL2", "pointer": "/é", "count": 2}',
        "]}",
    ]


def test_an_empty_baseline_can_be_read(tmp_path):
    path = str(tmp_path / "known.json")
    write_baseline(path, Counter())
    assert read_baseline(path) == Counter()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"entries": 1}',
        '{"entries": [{}]}',
        '{"entries": [1]}',
        "\x00",
        "[" * 100_000,
        json.dumps({"entries": [{"file": "a", "rule": "b", "pointer": "c", "count": "many"}]}),
    ],
)
def test_a_file_that_is_no_baseline_is_a_settings_error(tmp_path, text):
    path = tmp_path / "known.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="not a baseline that can be read"):
        read_baseline(str(path))


def test_a_missing_baseline_is_a_settings_error(tmp_path):
    with pytest.raises(SettingsError, match=r"known\.json"):
        read_baseline(str(tmp_path / "known.json"))
