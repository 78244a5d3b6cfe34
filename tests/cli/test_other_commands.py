from __future__ import annotations

import json

import pytest

from loralint.knowledge.rules import all_rules


def test_show_tells_value_key_and_origin(invoke):
    lines = invoke("show", "good.yaml", "--gpu", "T4").output.splitlines()
    assert lines[0].startswith("good.yaml (axolotl, by `base_model`")
    rows = {line.split()[0]: line.split() for line in lines[1:]}
    assert rows["adapter.rank"][1:] == ["16", "lora_r", "line", "3"]
    assert rows["adapter.dropout"][2:5] == ["lora_dropout", "default", "of"]
    assert rows["run.gpu"][1:] == ["T4", "--gpu", "--gpu"]
    assert "run.rows" not in rows
    assert (
        "run.rows" in invoke("show", "good.yaml", "--all").output
        or "run.rows" in invoke("show", "good.yaml", "--rows", "9").output
    )


def test_show_tells_what_a_value_hides(invoke, folder):
    text = (folder / "good.yaml").read_text() + "load_in_4bit: true\nload_in_8bit: true\n"
    (folder / "two.yaml").write_text(text, encoding="utf-8")
    assert "hides load_in_" in invoke("show", "two.yaml").output


def test_show_as_json(invoke):
    (run,) = json.loads(invoke("show", "good.yaml", "--format", "json").output)["runs"]
    assert {
        "parameter": "adapter.rank",
        "key": "lora_r",
        "value": 16,
        "origin": "set",
        "source": None,
        "line": 3,
        "shadowed": [],
    } in run["settings"]


def test_show_masks_secrets(invoke, folder):
    token = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    (folder / "s.yaml").write_text((folder / "good.yaml").read_text() + f"output_dir: {token}\n", encoding="utf-8")
    for format_ in ("text", "json"):
        assert token not in invoke("show", "s.yaml", "--all", "--format", format_).output


@pytest.mark.parametrize("word", ["LL304", "ll304", "rank-not-positive"])
def test_explain_tells_the_whole_rule(invoke, word):
    out = invoke("explain", word).output
    for words in ("LL304", "rank-not-positive", "peft", "r = 0"):
        assert words in out


@pytest.mark.parametrize("format_", ["text", "markdown", "json"])
def test_every_rule_has_a_page(invoke, format_):
    for rule in all_rules():
        result = invoke("explain", rule.id, "--format", format_)
        assert result.exit_code == 0
        assert rule.name in result.output


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("ValueError: `r` should be a positive integer value but the value passed is 0", "LL304"),
        (
            "--load_best_model_at_end requires the saving steps to be a round multiple of the evaluation steps",
            "LL431",
        ),
        ("Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0", "LL214"),
        ("loss does not move at all", "LL206"),
    ],
)
def test_explain_by_symptom(invoke, text, rule):
    result = invoke("explain", "--symptom", text, "--format", "json")
    assert rule in [one["rule"] for one in json.loads(result.output)][:3]


def test_a_symptom_of_nothing_we_know(invoke):
    result = invoke("explain", "--symptom", "the coffee machine is on fire")
    assert result.exit_code == 0
    assert "LL" not in result.output


def test_rules_lists_them(invoke):
    lines = invoke("rules").output.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == [rule.id for rule in all_rules()]
    assert lines[-1].startswith(f"{len(all_rules())} rules")
    assert [line.split()[0] for line in invoke("rules", "LL304").output.splitlines()[:-2]] == ["LL304"]
    rows = json.loads(invoke("rules", "--format", "json").output)
    assert {row["id"]: row["name"] for row in rows} == {rule.id: rule.name for rule in all_rules()}


def test_golden_lists_parameters_and_shows_one(invoke):
    listed = invoke("golden").output
    assert "adapter.dropout" in listed
    for word in ("adapter.dropout", "dropout"):
        page = invoke("golden", word).output
        assert "0 to 0.1" in page
        assert "http" in page or "arXiv" in page or "peft" in page
    assert list(json.loads(invoke("golden", "dropout", "--format", "json").output)) == ["adapter.dropout"]
    assert "T4" in invoke("golden", "gpu").output


def test_baseline_records_hides_and_prunes(invoke, folder):
    result = invoke("baseline", "block.yaml", "review.yaml")
    assert (result.exit_code, result.output) == (0, "loralint-baseline.json: 2 findings kept\n")
    checked = ["check", "block.yaml", "review.yaml", "--baseline", "loralint-baseline.json", "--fail-on", "B"]
    assert invoke(*checked).exit_code == 0
    assert invoke(*checked).output.endswith("2 suppressed\n")
    moved = "# moved\n\n" + (folder / "block.yaml").read_text()
    (folder / "block.yaml").write_text(moved, encoding="utf-8")
    assert invoke(*checked).exit_code == 0
    (folder / "block.yaml").write_text(moved + "zebra_stripes: 1\n", encoding="utf-8")
    assert invoke(*checked).exit_code == 1
    (folder / "block.yaml").write_text((folder / "good.yaml").read_text(), encoding="utf-8")
    result = invoke("baseline", "block.yaml", "review.yaml", "--prune")
    assert result.output == "loralint-baseline.json: 1 finding kept, 1 mended dropped\n"


def test_prune_adds_nothing(invoke):
    invoke("baseline", "good.yaml")
    assert invoke("baseline", ".", "--prune").output.startswith("loralint-baseline.json: 0 findings kept")


def test_a_baseline_of_the_settings_counts_from_its_own_folder(invoke, folder, monkeypatch):
    invoke("baseline", "block.yaml", "--file", "known.json")
    (folder / "loralint.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert invoke("check", "../block.yaml").exit_code == 0


def test_prune_without_a_baseline_is_a_mistake(invoke):
    result = invoke("baseline", "good.yaml", "--prune")
    assert result.exit_code == 2
    assert "loralint-baseline.json" in result.output
