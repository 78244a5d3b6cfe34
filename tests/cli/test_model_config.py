"""`--model-config`, `--model-cache`, their settings, and a base model that is a folder of the project."""

from __future__ import annotations

import json

import pytest

import loralint

CONFIG = """\
base_model: {}
adapter: lora
lora_r: 16
lora_alpha: 16
lora_target_modules: [q_proj, v_proj]
micro_batch_size: 1
learning_rate: 0.0002
datasets: [{{path: a/b, type: alpaca}}]
"""
MODEL = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 1024, "num_hidden_layers": 3,
    "num_attention_heads": 8, "vocab_size": 1000, "torch_dtype": "float32",
}  # fmt: skip


def model(folder, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(MODEL | changes))
    return folder


@pytest.fixture
def config(tmp_path, monkeypatch):
    """config(base) -> name of a training config in the working folder."""
    monkeypatch.chdir(tmp_path)

    def write(base="acme/own"):
        (tmp_path / "train.yaml").write_text(CONFIG.format(base))
        return "train.yaml"

    return write


def setting(report, name="run.model_config"):
    return next((one.value for run in report.runs for one in run.settings if one.parameter == name), None)


def notes(report):
    return " ".join(note.message for run in report.runs for note in run.notes)


def test_a_file_a_folder_and_one_for_a_base_model_alone(config, tmp_path):
    path = config()
    assert "`acme/own` is not in the catalogue" in notes(loralint.check(path))
    model(tmp_path / "models")
    for given in ("models", "models/config.json", "acme/own=models"):
        report = loralint.check(path, model_config=[given], show_settings=True)
        assert "not in the catalogue" not in notes(report), given
        assert setting(report).value == "models/config.json"
    assert "not in the catalogue" in notes(loralint.check(path, model_config=["acme/other=models"]))


def test_what_is_given_for_one_base_model_wins(config, tmp_path):
    path = config()
    model(tmp_path / "one")
    model(tmp_path / "all")
    report = loralint.check(path, model_config=["all", "acme/own=one"], show_settings=True)
    assert setting(report).value == "one/config.json"


def test_one_for_a_base_model_that_no_run_has_is_told(config, tmp_path, invoke):
    path = config()
    model(tmp_path / "models")
    (tmp_path / "other.yaml").write_text(CONFIG.format("acme/two"))
    report = loralint.check([path, "other.yaml"], model_config=["acme/own=models", "acme/twoo=models"])
    assert [note.message for run in report.runs for note in run.notes if "--model-config acme" in note.message] == [
        "--model-config acme/twoo=... is read for no run: none has this base model; here it is acme/own, acme/two"
    ]
    assert "acme/twoo=... is read for no run" in invoke("check", path, "--model-config", "acme/twoo=models").output
    assert "is read for no run" not in notes(loralint.check(path, model_config=["acme/own=models", "models"]))


def test_settings_may_hold_models_of_other_configs(config, tmp_path, invoke):
    path = config()
    model(tmp_path / "models")
    (tmp_path / "loralint.toml").write_text('model-config = ["acme/else=models"]\n')
    assert "is read for no run" not in invoke("check", path).output


def test_rules_judge_by_the_numbers_of_the_file(config, tmp_path):
    path = config()
    model(tmp_path / "models", model_type="qwen2")
    (tmp_path / path).write_text(CONFIG.format("acme/own").replace("q_proj, v_proj", "c_attn"))
    report = loralint.check(path, model_config=["models"])
    assert ("LL330", "S") in {(one.rule, one.tier) for one in report.runs[0].findings}


@pytest.mark.parametrize("base", ["./models/own", "models/own", "{tmp}/models/own"])
def test_a_base_model_that_is_a_folder_of_the_project(config, tmp_path, base):
    model(tmp_path / "models" / "own")
    report = loralint.check(config(base.format(tmp=tmp_path)), show_settings=True)
    assert setting(report).origin == "companion"
    assert "not in the catalogue" not in notes(report)


def test_no_folder_outside_the_project_is_looked_into(config, tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    model(tmp_path / "own")
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "own")
    monkeypatch.chdir(tmp_path / "inside")
    for base in ("../own", "./link", str(tmp_path / "own")):
        (tmp_path / "inside" / "train.yaml").write_text(CONFIG.format(base))
        assert setting(loralint.check("train.yaml", show_settings=True)) is None, base


def test_a_config_json_of_another_program_is_none(config, tmp_path):
    (tmp_path / "gpt2").mkdir()
    (tmp_path / "gpt2" / "config.json").write_text('{"name": "site"}')
    assert setting(loralint.check(config("gpt2"), show_settings=True)) is None


def test_a_cache(config, tmp_path):
    path = config()
    model(tmp_path / "hf" / "hub" / "models--acme--own" / "snapshots" / "0a1b")
    report = loralint.check(path, model_cache="hf", show_settings=True)
    assert (setting(report).source, "not in the catalogue" in notes(report)) == ("--model-cache", False)
    assert setting(loralint.check(path, show_settings=True)) is None


def test_the_cache_of_this_machine_is_read_only_if_asked_for(config, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    path = config()
    model(tmp_path / "hub" / "models--acme--own" / "snapshots" / "0a1b")
    assert setting(loralint.check(path, show_settings=True)) is None
    assert setting(loralint.check(path, model_cache="auto", show_settings=True)) is not None


def test_settings(config, tmp_path, monkeypatch, invoke):
    path = config()
    model(tmp_path / "models")
    (tmp_path / "loralint.toml").write_text('model-config = ["acme/own=models"]\n')
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / path).write_text(CONFIG.format("acme/own"))
    monkeypatch.chdir(tmp_path / "below")  # paths count from the settings file
    done = invoke("show", path)
    assert done.exit_code == 0
    assert "run.model_config" in done.output
    (tmp_path / "loralint.toml").write_text('model-cache = "nowhere"\n')
    done = invoke("check", path)
    assert done.exit_code == 2
    assert "there is no folder" in done.output


@pytest.mark.parametrize("given", ["nowhere", "acme/own=nowhere", "=models", "broken"])
def test_what_is_no_config_is_a_mistake_of_the_caller(config, tmp_path, given, invoke):
    path = config()
    model(tmp_path / "models")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    for command in ("check", "show", "inspect"):
        where = "." if command == "inspect" else path
        done = invoke(command, where, "--model-config", given)
        assert done.exit_code == 2, command
        assert "model config" in done.output


def test_memory_by_the_config(config, tmp_path, invoke):
    path = config()
    model(tmp_path / "models", torch_dtype="bfloat16")
    assert "not in the catalogue" in invoke("show", path, "--memory").output
    assert "not in the catalogue" not in invoke("show", path, "--memory", "--model-config", "models").output


def test_a_type_that_the_catalogue_lacks_is_not_checked_and_says_so(config, tmp_path):
    path = config()
    model(tmp_path / "models", model_type="made_up")
    assert "models of type `made_up` are not in the catalogue" in notes(loralint.check(path, model_config=["models"]))


def test_a_model_type_that_is_no_text_is_told_as_that(config, tmp_path):
    name = config()
    (tmp_path / "m.json").write_text(json.dumps(MODEL | {"model_type": 3}))
    with pytest.raises(ValueError, match="its model_type is no text"):
        loralint.check(name, model_config=["m.json"])
