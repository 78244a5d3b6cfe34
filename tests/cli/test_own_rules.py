"""Rules and golden entries of a project's own, in every command that speaks of rules."""

from __future__ import annotations

import json
import time

import pytest

RULE = """\
id: X001
name: rank-over-house-limit
when: {lora.on: true, model.base: {matches: "LLAMA"}}
uses: range
with: {field: adapter.rank, max: 32}
tier: A
message: "serving refuses the adapter: {key} is {value}"
help: "write {key}: {suggest}"
fix: {set: {adapter.rank: "{suggest}"}, safe: true}
symptoms: ["LoRA rank 64 is greater than max_lora_rank"]
why: Our servers are started with max_lora_rank 32, and a larger rank is refused at load.
examples:
  - bad: {axolotl: "base_model: NousResearch/Llama-2-7b-hf\\nadapter: lora\\nlora_r: 64\\nlearning_rate: 0.0002\\n"}
    finds: {key: lora_r, line: 3, fixed: "lora_r: 32"}
  - good: {axolotl: "base_model: NousResearch/Llama-2-7b-hf\\nadapter: lora\\nlora_r: 32\\nlearning_rate: 0.0002\\n"}
"""
GOLDEN = """\
- {id: X101, name: house-dropout, parameter: adapter.dropout, when: {lora.on: true}, recommended: 0.04,
   tolerance: ±100%, tier: A, why: swept in March}
- {id: X102, name: server-context, key: server.models.*.max_len, files: ["serving/*.yaml"], range: [1024, 32768],
   recommended: 8192, tier: S, then: the server does not start, why: cards of 24 GB}
- {id: X103, name: server-dtype, key: server.dtype, files: ["serving/*.yaml"], set: [bfloat16, auto], tier: B,
   why: all of ours are bf16}
- {id: X104, name: house-base, parameter: model.base, set: [NousResearch/Llama-2-7b-hf], why: the licence was read}
"""
SERVING = "server:\n  dtype: float16\n  models:\n    - {max_len: 8192}\n    - {max_len: 65536}\n    - {max_len: 7e4}\n"


@pytest.fixture
def project(folder):
    """The folder with a rule and golden entries of its own, and a file that starts no training."""
    for name in ("lint", "serving"):
        (folder / name).mkdir()
    (folder / "loralint.toml").write_text('rules = ["lint/X*.yaml"]\ngolden = ["lint/golden.yaml"]\n', "utf-8")
    (folder / "lint" / "X001-rank-over-house-limit.yaml").write_text(RULE, "utf-8")
    (folder / "lint" / "golden.yaml").write_text(GOLDEN, "utf-8")
    (folder / "serving" / "a.yaml").write_text(SERVING, "utf-8")
    good = (folder / "good.yaml").read_text("utf-8")
    (folder / "rank.yaml").write_text(good.replace("lora_r: 16", "lora_r: 64") + "lora_dropout: 0.09\n", "utf-8")
    return folder


def _found(result):
    runs = json.loads(result.stdout)["runs"]
    return [(one["rule"], one["tier"], one["key"], one["line"]) for run in runs for one in run["findings"]]


def test_they_are_judged_beside_ours(project, invoke):
    found = _found(invoke("check", "rank.yaml", "--format", "json"))
    assert ("X001", "A", "lora_r", 3) in found
    assert ("X101", "A", "lora_dropout", 8) in found
    assert not {"X001", "X101", "X104"} & {one[0] for one in _found(invoke("check", "good.yaml", "--format", "json"))}


def test_a_set_of_words(project, invoke):
    file = project / "rank.yaml"
    file.write_text(file.read_text("utf-8").replace("NousResearch/Llama-2-7b-hf", "acme/own"), "utf-8")
    found = _found(invoke("check", "rank.yaml", "--format", "json"))
    assert ("X104", "A", "base_model", 1) in found
    assert "X001" not in {one[0] for one in found}


def test_any_key_of_any_file(project, invoke):
    result = invoke("check", "serving", "--format", "json")
    assert _found(result) == [
        ("X103", "B", "server.dtype", 2),
        ("X102", "S", "server.models[1].max_len", 5),
        ("X102", "S", "server.models[2].max_len", 6),
    ]
    assert result.exit_code == 1
    (run,) = json.loads(result.stdout)["runs"]
    assert (run["framework"], run["verdict"]) == (None, "block")
    assert run["findings"][1]["pointer"] == "/server/models/1/max_len"
    said = "the server does not start: server.models[1].max_len is 65536, fine is 1024 to 32768"
    assert run["findings"][1]["message"] == said
    assert run["findings"][1]["help"] == "write server.models[1].max_len: 8192"


def test_what_is_filled_in_later_is_not_checked(project, invoke):
    (project / "serving" / "a.yaml").write_text("server: {models: [{max_len: '${LEN}'}]}\n", "utf-8")
    (run,) = json.loads(invoke("check", "serving", "--format", "json").stdout)["runs"]
    assert run["findings"] == []
    assert [(one["kind"], one["rules"]) for one in run["notes"]] == [("not-checked", ["X102"])]


def test_files_that_no_entry_names_are_left_alone(project, invoke):
    (project / "other.yaml").write_text(SERVING, "utf-8")
    assert json.loads(invoke("check", "other.yaml", "--format", "json").stdout)["runs"] == []


def test_ignores_and_baselines_know_them(project, invoke):
    file = project / "serving" / "a.yaml"
    file.write_text(SERVING.replace("float16", "float16  # loralint: ignore[X103] old cards"), "utf-8")
    (run,) = json.loads(invoke("check", "serving", "--format", "json").stdout)["runs"]
    assert [one["rule"] for one in run["findings"] if one["suppressed"]] == ["X103"]
    file.write_text(SERVING.replace("float16", "auto  # loralint: ignore[X103] old cards"), "utf-8")
    found = json.loads(invoke("check", "serving", "--format", "json").stdout)["runs"][0]["findings"]
    assert [one["name"] for one in found if one["line"] == 2] == ["unused-ignore"]
    assert invoke("baseline", "serving", "rank.yaml").exit_code == 0
    assert invoke("check", "serving", "rank.yaml", "--baseline", "loralint-baseline.json").exit_code == 0


def test_settings_may_name_them(project, invoke):
    settings = project / "loralint.toml"
    settings.write_text(settings.read_text("utf-8") + 'ignore = ["X001", "house-dropout"]\n', "utf-8")
    assert not {"X001", "X101"} & {one[0] for one in _found(invoke("check", "rank.yaml", "--format", "json"))}


def test_every_command_speaks_of_them(project, invoke):
    assert [line[:4] for line in invoke("rules", "own").output.splitlines()[:5]] == [
        "X001", "X101", "X102", "X103", "X104"
    ]  # fmt: skip
    page = invoke("explain", "x001").output
    assert page.startswith("X001 rank-over-house-limit")
    assert "max_lora_rank 32" in page
    assert "X001" in invoke("explain", "--symptom", "LoRA rank 64 is greater than max_lora_rank").output
    assert "X102 server-context" in invoke("explain", "X102").output
    assert "X101: house-dropout" in invoke("golden", "adapter.dropout").output
    assert "X102: server-context" in invoke("golden", "server.models.*.max_len").output
    sarif = json.loads(invoke("check", "serving", "--format", "sarif").stdout)["runs"][0]
    assert [rule["id"] for rule in sarif["tool"]["driver"]["rules"]] == ["X103", "X102"]
    assert "cards of 24 GB" in sarif["tool"]["driver"]["rules"][1]["help"]["text"]
    assert "X001" in invoke("check", "rank.yaml", "--format", "junit").output
    assert invoke("show", "rank.yaml").exit_code == 0
    assert invoke("check", "serving", "rank.yaml", "--output", "html=report.html").exit_code == 1
    assert "X102" in (project / "report.html").read_text("utf-8")


def test_fixes_are_made(project, invoke):
    invoke("check", "rank.yaml", "--fix", "--no-audit")
    assert "lora_r: 32\n" in (project / "rank.yaml").read_text("utf-8")


def test_another_project_knows_nothing_of_them(project, invoke):
    assert invoke("rules", "X").exit_code == 0
    (project / "loralint.toml").write_text("", "utf-8")
    assert invoke("rules", "X").exit_code == 2
    assert invoke("check", "serving").exit_code == 0


def _said(invoke):
    result = invoke("check", "good.yaml")
    assert result.exit_code == 2
    return result.output


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tier: A", "teir: A", "lint/X001-rank-over-house-limit.yaml:6: teir: "),
        ("adapter.rank, max", "adapter.rnk, max", "X001-rank-over-house-limit.yaml:5: with: "),
        ("X001", "LL001", "X001-rank-over-house-limit.yaml:1: id: "),
        ("X001", "A001", "X001-rank-over-house-limit.yaml:1: id: "),
        ("X001", "X101", "X101 is already used by "),
        ("rank-over-house-limit", "rank-not-positive", "rank-not-positive is already used by "),
        ("why: Our", "why: *x", "X001-rank-over-house-limit.yaml:11: "),
        ("when: {", "when: {{", "X001-rank-over-house-limit.yaml:4: "),
        ("uses: range", "uses: python", "there is no check template 'python'"),
    ],
)
def test_a_fault_is_said_with_its_line(project, invoke, old, new, said):
    file = project / "lint" / "X001-rank-over-house-limit.yaml"
    file.write_text(RULE.replace(old, new), "utf-8")
    output = _said(invoke)
    assert said in output


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{id: X105, name: no-key, range: [1, 2], why: it is so}", "for a parameter or for a key"),
        ("{id: X105, name: no-files, key: a.b, range: [1, 2], why: it is so}", "key and files go together"),
        ("{id: X105, name: two, parameter: optim.lr, range: [1, 2], set: [1], why: it is so}", "exactly one of"),
        ("{id: X105, name: down, parameter: optim.lr, range: [2, 1], why: it is so}", "upside down"),
        ("{id: X105, name: loose, parameter: optim.lr, tolerance: 10%, why: it is so}", "around a recommended number"),
        ("{id: X105, name: odd, parameter: optim.lr, recommended: 3, range: [1, 2], why: it is so}", "not fine"),
        ("{id: X105, name: lists, parameter: adapter.targets, set: [q_proj], why: it is so}", "each: adapter.targets"),
    ],
)
def test_a_golden_entry_that_says_nothing_is_refused(project, invoke, entry, said):
    (project / "lint" / "golden.yaml").write_text(f"- {entry}\n", "utf-8")
    output = _said(invoke)
    assert "lint/golden.yaml:1: " in output
    assert said in output


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('rules = ["/etc/*.yaml"]', "no pattern below the folder of the settings"),
        ('rules = ["../*.yaml"]', "no pattern below the folder of the settings"),
        ('rules = ["none/*.yaml"]', "no file is called"),
        ('rules = ["linked/*.yaml"]', "a symbolic link that leads out"),
        ('rules = ["large.yaml"]', "larger than 512 KiB"),
        ('rules = ["deep.yaml"]', "too deep or too large"),
        ('rules = ["bomb.yaml"]', "aliases are not taken here"),
        ('rules = ["latin.yaml"]', "not UTF-8"),
    ],
)
def test_settings_that_reach_too_far(project, invoke, tmp_path_factory, settings, said):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.yaml").write_text(RULE, "utf-8")
    (project / "linked").symlink_to(outside)
    (project / "large.yaml").write_text("#" * 600_000, "utf-8")
    (project / "deep.yaml").write_text("[" * 60 + "]" * 60, "utf-8")
    (project / "bomb.yaml").write_text("a: &a [1]\nb: &b [*a, *a]\n", "utf-8")
    (project / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    (project / "loralint.toml").write_text(settings + "\n", "utf-8")
    start = time.perf_counter()
    assert said in " ".join(_said(invoke).split())
    assert time.perf_counter() - start < 5


def test_an_expression_cannot_stall_the_check(project, invoke):
    file = project / "lint" / "X001-rank-over-house-limit.yaml"
    file.write_text(RULE.replace('"LLAMA"', '"^(a+)+$"'), "utf-8")
    config = project / "rank.yaml"
    config.write_text(config.read_text("utf-8").replace("NousResearch/Llama-2-7b-hf", "a" * 60 + "!"), "utf-8")
    start = time.perf_counter()
    assert invoke("check", "rank.yaml").exit_code == 0
    assert time.perf_counter() - start < 5


def test_without_the_extra_nothing_passes_in_silence(project, command):
    (project / "pydantic").mkdir()
    (project / "pydantic" / "__init__.py").write_text("raise ImportError('blocked', name='pydantic')\n", "utf-8")
    import os

    done = command("check", "good.yaml", PYTHONPATH=os.pathsep.join([str(project), _root()]))
    assert done.returncode == 2
    assert b"pip install '.[authoring]' in a checkout" in done.stderr


def _root():
    from pathlib import Path

    return str(Path(__file__).parents[2])


def test_a_new_rule_passes_its_own_test(project, invoke):
    result = invoke("rules", "new", "X002", "adapter-too-large", "--dir", "lint")
    assert result.exit_code == 0
    tested = invoke("rules", "test")
    assert (tested.exit_code, tested.output) == (0, "2 rules, 0 faults\n")
    again = invoke("rules", "new", "X002", "adapter-too-large", "--dir", "lint")
    assert again.exit_code == 2
    assert "is there already" in again.output
    assert invoke("rules", "new", "LL2", "x", "--dir", "lint").exit_code == 2
    assert invoke("rules", "new", "X003", "../x", "--dir", "lint").exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("max: 32", "max: 64", "X001 example 1: wanted lora_r in line 3, found nothing"),
        ("max: 32", "max: 16", "X001 example 2: found where nothing should be: A lora_r in line 3"),
        ("line: 3, fixed", "line: 2, fixed", "X001 example 1: wanted lora_r in line 2, found A lora_r in line 3"),
        ('"lora_r: 32"', '"lora_r: 31"', "X001 example 1: no line is 'lora_r: 31' after the fix"),
        ("{key} is {value}", "{key} is {valu}", "X001 example 1: a placeholder that nothing fills"),
        ("adapter: lora\\nlora_r: 64", "lora_r: 64", "X001 example 1: wanted lora_r in line 3"),
    ],
)
def test_an_example_that_does_not_hold(project, invoke, old, new, said):
    (project / "lint" / "X001-rank-over-house-limit.yaml").write_text(RULE.replace(old, new), "utf-8")
    result = invoke("rules", "test", "lint/X001-rank-over-house-limit.yaml")
    assert result.exit_code == 1
    assert said in result.output


def test_our_own_rules_are_tested_too(project, invoke):
    result = invoke("rules", "test", "LL431", "LL004")
    assert (result.exit_code, result.output) == (0, "2 rules, 0 faults\n")


def test_golden_lists_compared(project, invoke):
    before = invoke("golden", "diff", "lint/golden.yaml", "lint/golden.yaml")
    assert (before.exit_code, before.output) == (0, "both say the same\n")
    new = GOLDEN.replace("32768]", "16384]").replace("tier: B", "tier: A").replace("X104, ", "X105, ")
    (project / "new.yaml").write_text(new, "utf-8")
    result = invoke("golden", "diff", "lint/golden.yaml", "new.yaml")
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "model.base  X104", "  the entry is gone", "model.base  X105", "  the entry is new",
        "server.dtype  X103", "  tier: B -> A",
        "server.models.*.max_len  X102", "  range: 1024, 32768 -> 1024, 16384", "4 changes",
    ]  # fmt: skip
    rows = json.loads(invoke("golden", "diff", "lint/golden.yaml", "new.yaml", "--format", "json").output)
    assert rows[2] == {"parameter": "server.dtype", "entry": "X103", "field": "tier", "old": "B", "new": "A"}


def test_our_list_is_the_same_however_it_is_written(project, invoke):
    from pathlib import Path

    folder = str(Path(__file__).parents[2] / "golden" / "parameters")
    (project / "loralint.toml").write_text("", "utf-8")
    (project / "printed.json").write_text(invoke("golden", "--format", "json").output, "utf-8")
    for one in (folder, "printed.json"):
        result = invoke("golden", "diff", "shipped", one)
        assert (result.exit_code, result.output) == (0, "both say the same\n"), one
    assert invoke("golden", "diff", "shipped", "good.yaml").exit_code == 2
    assert invoke("golden", "diff", "shipped", "nowhere").exit_code == 2
