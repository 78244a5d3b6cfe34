"""SimpleTuner's `config.env`: the variables of old and new releases, extra flags, and the config beside it."""

from __future__ import annotations

import json

import pytest

import loralint

NEW = """\
MODEL_FAMILY=flux
export MODEL_TYPE='lora'
MODEL_NAME="black-forest-labs/FLUX.1-dev"
LEARNING_RATE=1e-4
OPTIMIZER=optimi-lion
MIXED_PRECISION=bf16
TRAIN_BATCH_SIZE=2
MAX_NUM_STEPS=2000
NUM_EPOCHS=0
OUTPUT_DIR=out
DATALOADER_CONFIG=data.json
TRAINER_EXTRA_ARGS="--lora_rank=64 --lora_alpha 32"
"""
OLD = NEW.replace("MODEL_FAMILY=flux\n", "export FLUX=true\nexport LORA_RANK=8\nMIN_SNR_GAMMA=5\n").replace(
    "--lora_rank=64 ", ""
)


def _run(folder, text, **options):
    (folder / "config.env").write_text(text, encoding="utf-8")
    (run,) = loralint.check(folder, show_settings=True, **options).runs
    return run, {row.parameter: row.value for row in run.settings}


def _found(run):
    return {(one.rule, one.key, one.span.line) for one in run.findings}


def test_variables_and_extra_flags_make_one_run(tmp_path):
    run, values = _run(tmp_path, NEW)
    expected = {
        "model.diffusion_family": "flux",
        "adapter.method": "lora",
        "adapter.rank": 64,
        "adapter.alpha": 32,
        "optim.lr": 1e-4,
        "batch.micro": 2,
        "train.max_steps": 2000,
        "precision.bf16": True,
        "optim.name": "optimi-lion",
        "memory.gradient_checkpointing": True,
    }
    assert {field: values[field].value for field in expected} == expected
    assert (values["optim.lr"].key, values["optim.lr"].span.line) == ("LEARNING_RATE", 4)
    assert NEW[values["adapter.rank"].span.start : values["adapter.rank"].span.end] == "64"
    assert run.framework == "simpletuner"
    assert not run.findings


def test_the_release_of_old_has_variables_of_its_own(tmp_path):
    run, values = _run(tmp_path, OLD)
    assert [values[field].value for field in ("model.diffusion_family", "adapter.rank", "train.min_snr_gamma")] == [
        "flux", 8, 5
    ]  # fmt: skip
    assert not run.findings


def test_a_variable_of_old_that_nobody_reads_any_more(tmp_path):
    run, values = _run(tmp_path, NEW.replace("--lora_rank=64 ", "").replace("OPTIMIZER", "LORA_RANK=64\nOPTIMIZER"))
    assert _found(run) == {("LL105", "LORA_RANK", 5)}
    assert run.findings[0].help == 'write TRAINER_EXTRA_ARGS="--lora_rank=64"'
    assert values["adapter.rank"].value == 16


def test_what_the_program_refuses_is_told_of_the_variable(tmp_path):
    run, _ = _run(tmp_path, NEW.replace("NUM_EPOCHS=0", "NUM_EPOCHS=3"))
    assert _found(run) == {("LL108", "NUM_EPOCHS", 9)}
    assert run.findings[0].help.startswith("write `NUM_EPOCHS=0`")


def test_a_switch_that_is_on_by_default_cannot_be_denied(tmp_path):
    run, values = _run(tmp_path, NEW + "USE_GRADIENT_CHECKPOINTING=false\n")
    assert _found(run) == {("LL107", "USE_GRADIENT_CHECKPOINTING", 13)}
    assert values["memory.gradient_checkpointing"].value is True
    run, values = _run(tmp_path, OLD + "USE_GRADIENT_CHECKPOINTING=false\n")
    assert not run.findings
    assert values["memory.gradient_checkpointing"].value is False


def test_a_misspelt_extra_flag_and_a_card_without_bf16(tmp_path):
    text = NEW.replace("=flux", "=sdxl").replace("black-forest-labs/FLUX.1-dev", "stabilityai/sdxl-turbo")
    run, _ = _run(tmp_path, text.replace("lora_alpha", "lora_alpa"), gpu="T4")
    assert {(rule, key) for rule, key, _ in _found(run)} == {("LL101", "lora_alpa"), ("LL214", "MIXED_PRECISION")}
    helps = {one.rule: one.help for one in run.findings}
    assert helps["LL214"].startswith("write MIXED_PRECISION=fp16, or ")


@pytest.mark.parametrize(
    ("line", "rule", "key", "help_"),
    [
        ("LR_SCHEDULE=polynomal", "LL108", "LR_SCHEDULE", "write `LR_SCHEDULE=polynomial`"),
        ("OPTIMIZER=adamw_bf17", "LL108", "OPTIMIZER", "write `OPTIMIZER=adamw_bf16`"),
        ("LR_SCHEDULER=linear", "LL101", "LR_SCHEDULER", "write `LR_SCHEDULE`, "),
        ("export TRAIN_BATCHSIZE=2", "LL101", "TRAIN_BATCHSIZE", "write `TRAIN_BATCH_SIZE`, "),
    ],
)
def test_a_slip_in_a_variable_or_in_its_word_is_told(tmp_path, line, rule, key, help_):
    run, _ = _run(tmp_path, f"{NEW}{line}\n")
    (found,) = [one for one in run.findings if one.key == key]
    assert found.rule == rule
    assert found.help.startswith(help_)


def test_variables_of_the_users_own_are_not(tmp_path):
    run, _ = _run(tmp_path, f"{NEW}MY_TRAINING_NOTE=x\nLR_SCHEDULE=polynomial\n")
    assert not _found(run)


CONFIG = {
    "model_family": "flux", "model_type": "lora", "lora_rank": 16, "learning_rate": 1e-4, "optimizer": "optimi-lion",
    "output_dir": "out", "data_backend_config": "data.json", "max_train_steps": 100, "num_train_epochs": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("backend", "files"), [("", ["config.json"]), ("CONFIG_BACKEND=env\n", ["config.env", "config.json"])]
)
def test_a_config_beside_it_counts_before_it(tmp_path, backend, files):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (tmp_path / "config.env").write_text(f"{backend}TRAINING_NUM_PROCESSES=4\n{NEW}", encoding="utf-8")
    runs = loralint.check(tmp_path, show_settings=True).runs
    assert sorted(one.files[0].rpartition("/")[2] for one in runs) == files
    last = {row.parameter: row.value for row in runs[-1].settings}
    assert (last["dist.launcher_processes"].value, last["dist.launcher_processes"].origin) == (4, "env")
    assert last["adapter.rank"].value == 16


def test_the_data_that_it_names_joins(tmp_path):
    data = [{"id": "a", "type": "local", "instance_data_dir": "pics", "resolution": 1, "resolution_type": "pixel"}]
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    run, _ = _run(tmp_path, NEW)
    assert {(one.rule, one.key) for one in run.findings} == {("LL107", "[0].resolution")}


@pytest.mark.parametrize("dashes", ["", "--"])
def test_the_data_that_a_config_names_joins_however_its_keys_are_spelled(tmp_path, dashes):
    data = [{"id": "a", "type": "local", "instance_data_dir": "pics", "resolution": 1, "resolution_type": "pixel"}]
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    spelled = {f"{dashes}{key}": value for key, value in CONFIG.items()}
    (tmp_path / "config.json").write_text(json.dumps(spelled), encoding="utf-8")
    (run,) = loralint.check(tmp_path).runs
    assert ("LL107", "[0].resolution") in {(one.rule, one.key) for one in run.findings}


@pytest.mark.parametrize(
    "text", ["HF_TOKEN=abc\nMODEL_TYPE=lora\n", "TRAINING_NUM_PROCESSES=2\n", "", "=\n'\n$(rm x)\n"]
)
def test_other_variables_are_no_run(tmp_path, text):
    (tmp_path / "config.env").write_text(text, encoding="utf-8")
    assert not loralint.check(tmp_path).runs
