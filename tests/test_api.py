from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import pytest

import loralint
from loralint.engine.settings import Settings

GOOD = "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\nlearning_rate: 0.0002\n"
BAD = GOOD.replace("lora_r: 16", "lora_r: 0")
CONFIG = {"peft_type": "LORA", "r": 0, "lora_alpha": 16, "target_modules": ["q_proj"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(BAD, encoding="utf-8")
    return path


def _rules(report):
    return [finding.rule for run in report.runs for finding in run.findings]


def test_a_path_as_text_or_path(file):
    for path in (file, str(file)):
        report = loralint.check(path)
        assert _rules(report) == ["LL304"]
        assert report.runs[0].files == (str(file),)
        assert report.texts == {str(file): BAD}


def test_folders_and_several_paths(file):
    assert _rules(loralint.check(file.parent)) == ["LL304"]
    other = file.with_name("b.yaml")
    other.write_text(GOOD, encoding="utf-8")
    report = loralint.check([file, str(other)])
    assert [(run.files[0], run.verdict) for run in report.runs] == [(str(file), "block"), (str(other), "pass")]


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_a_mapping(kind):
    report = loralint.check(kind(CONFIG))
    (run,) = report.runs
    assert (run.framework, run.files, _rules(report)) == ("peft", ("<config>",), ["LL304"])
    assert run.findings[0].value == 0


def test_a_mapping_with_values_that_json_does_not_know():
    report = loralint.check({**CONFIG, "path": Path("a"), "scale": float("nan")})
    assert report.runs


def test_options_reach_the_rules(file):
    file.write_text(GOOD + "bf16: true\n", encoding="utf-8")
    assert _rules(loralint.check(file, gpu="T4")) == ["LL214"]
    assert _rules(loralint.check(file, settings=Settings(gpu="T4"))) == ["LL214"]
    assert _rules(loralint.check(file, gpu="A100", settings=Settings(gpu="T4"))) == []


def test_rules_are_selected(file):
    assert _rules(loralint.check(file, select_rules=["LL1"])) == []
    assert _rules(loralint.check(file, ignore_rules=["LL304"])) == []
    assert _rules(loralint.check(file, settings=Settings(ignore=("LL304",)))) == []


def test_settings_are_shown_on_demand(file):
    assert loralint.check(file).runs[0].settings == ()
    assert {one.parameter for one in loralint.check(file, show_settings=True).runs[0].settings} > {"adapter.rank"}


def test_excluded_files_of_a_folder_are_passed_over(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert loralint.check(".", settings=Settings(exclude=("config.*",))).runs == ()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"gpu": "Voodoo2"}, "GPU `Voodoo2`"),
        ({"target": ["zebra=1"]}, "names 'zebra'"),
        ({"framework": "keras"}, "unknown framework 'keras'"),
        ({"select_rules": ["LL999"]}, "no rule matches `LL999`"),
    ],
)
def test_what_is_not_known_is_a_value_error(file, given, says):
    with pytest.raises(ValueError, match=says):
        loralint.check(file, **given)


def test_a_path_that_leads_nowhere_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.yaml"):
        loralint.check(tmp_path / "gone.yaml")


def test_the_same_twice_gives_the_same(file):
    assert loralint.check(file, gpu="T4", show_settings=True) == loralint.check(file, gpu="T4", show_settings=True)


def test_the_package_knows_nothing_else():
    with pytest.raises(AttributeError, match="module 'loralint' has no attribute 'zebra'"):
        loralint.zebra  # noqa: B018


@pytest.mark.parametrize("name", ["a_ds.json", "z_ds.json"])
def test_what_a_run_names_is_no_run_of_its_own_wherever_its_name_sorts(tmp_path, name):
    """The second config names nothing and stays a run; so does the first file where nobody names it."""
    config = (
        "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: lora\nlearning_rate: 1.0e-4\nbf16: true\n"
    )
    engine = (
        '{"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2}}'
    )
    (tmp_path / "lf.yaml").write_text(f"{config}deepspeed: {name}\n")
    (tmp_path / "other.yaml").write_text(config)
    (tmp_path / name).write_text(engine)
    told = [[Path(file).name for file in run.files] for run in loralint.check(tmp_path).runs]
    assert sorted(told) == [["lf.yaml", name], ["other.yaml"]]
    (tmp_path / "lf.yaml").unlink()
    told = [[Path(file).name for file in run.files] for run in loralint.check(tmp_path).runs]
    assert sorted(told) == sorted([[name], ["other.yaml"]])
