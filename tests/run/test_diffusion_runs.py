"""Command lines of diffusion trainers with the files that they name, as one run."""

from __future__ import annotations

import json

import pytest

import loralint

LINE = (
    "accelerate launch sdxl_train_network.py --pretrained_model_name_or_path=sd_xl_base_1.0.safetensors"
    " --network_module=networks.lora --network_dim=32 --network_alpha=16 --learning_rate=1e-4 --mixed_precision=bf16"
    " --cache_text_encoder_outputs --network_train_unet_only --dataset_config=dataset.toml {}\n"
)
DATA = '[general]\nshuffle_caption = {}\n[[datasets]]\nresolution = 1024\n  [[datasets.subsets]]\n  image_dir = "a"\n'


def _found(folder, line, data=None):
    (folder / "train.sh").write_text(line, encoding="utf-8")
    if data is not None:
        (folder / "dataset.toml").write_text(data, encoding="utf-8")
    report = loralint.check(folder)
    return {(one.rule, one.tier, one.key) for run in report.runs for one in run.findings}


@pytest.mark.parametrize(("word", "tier"), [("true", "S"), ("false", None)])
def test_the_dataset_file_counts_for_its_subsets(tmp_path, word, tier):
    found = _found(tmp_path, LINE.format(""), DATA.format(word))
    assert found == ({("LL702", tier, "general.shuffle_caption")} if tier else set())


def test_what_the_file_says_is_not_known_without_it(tmp_path):
    found = _found(tmp_path, LINE.format("--shuffle_caption"))
    assert [(rule, tier) for rule, tier, _ in found] == [("LL702", "A")]


def test_a_checkpoint_of_another_script(tmp_path):
    line = LINE.replace("sdxl_train", "train").replace("--cache_text_encoder_outputs", "").format("")
    assert ("LL712", "A", "pretrained_model_name_or_path") in _found(tmp_path, line)


def test_a_flag_of_another_script(tmp_path):
    found = _found(tmp_path, LINE.format("--blocks_to_swap 18"), DATA.format("false"))
    assert {(rule, key) for rule, _, key in found} == {("LL102", "blocks_to_swap")}


INSTALL = """\
pip install "diffusers=={}" 'peft[torch]==0.7.1'
accelerate launch train_dreambooth_lora_sdxl.py --mixed_precision=fp16 --resume_from_checkpoint=latest \\
  --pretrained_model_name_or_path=stabilityai/stable-diffusion-xl-base-1.0 --instance_data_dir=dog \\
  --instance_prompt=dog --output_dir=out --learning_rate=1e-4
"""


@pytest.mark.parametrize(("version", "tier"), [("0.25.0", "S"), ("0.27.0", None)])
def test_a_script_installs_its_versions(tmp_path, version, tier):
    found = _found(tmp_path, INSTALL.format(version))
    assert found == ({("LL728", tier, "resume_from_checkpoint")} if tier else set())


@pytest.mark.parametrize("asked", ['"trl>=0.22.1"', "trl"])
def test_what_a_notebook_installs_is_no_older_pin(tmp_path, asked):
    cells = (
        f"!pip install -q {asked} peft",
        "from trl import *\nSFTTrainer('gpt2', args=SFTConfig(output_dir='o', max_length=9)).train()",
    )
    cells = [{"cell_type": "code", "source": one, "outputs": [], "metadata": {}} for one in cells]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "requirements.txt").write_text("trl==0.12.1\n", encoding="utf-8")
    (tmp_path / "train.ipynb").write_text(json.dumps(book), encoding="utf-8")
    found = [one for run in loralint.check(tmp_path).runs for one in run.findings]
    assert "LL103" not in {one.rule for one in found}
    book["cells"] = cells[1:]
    (tmp_path / "train.ipynb").write_text(json.dumps(book), encoding="utf-8")
    found = [one for run in loralint.check(tmp_path).runs for one in run.findings]
    assert ("LL103", "S") in {(one.rule, one.tier) for one in found}


def test_what_a_branch_installs_is_no_pin(tmp_path):
    text = INSTALL.format("0.25.0").replace("pip install", "if false; then pip install").replace("0.7.1'", "0.7.1'; fi")
    assert _found(tmp_path, text) == set()


def test_the_script_decides_for_the_file_that_it_reads(tmp_path):
    settings = (
        'pretrained_model_name_or_path = "base.safetensors"\nnetwork_module = "networks.lora"\nnetwork_dim = 16\n'
    )
    settings += 'dataset_config = "dataset.toml"\nlearning_rate = 1e-4\ncache_text_encoder_outputs = true\n'
    (tmp_path / "config.toml").write_text(settings, encoding="utf-8")
    line = "accelerate launch {}.py --config_file config.toml\n"
    found = _found(tmp_path, line.format("sdxl_train_network"), DATA.format("false"))
    assert found == {("LL701", "S", "cache_text_encoder_outputs")}
    assert _found(tmp_path, line.format("flux_train_network"), DATA.format("false")) == {
        ("LL718", "S", "network_module")
    }


ONETRAINER = """\
python scripts/train.py --preset-path preset.json --config-path mine.json \\
  --config-value learning_rate={} --config-value "optimizer.weight_decay=0.1" --config-value=batch_size=4
"""


def test_values_over_the_config_over_the_preset(tmp_path):
    preset = '{"training_method": "LORA", "model_type": "CHROMA_1", "lora_alpha": 16, "epochs": 7, "batch_size": 9,'
    preset += ' "lora_rank": 16}'
    config = '{"epochs": 3, "optimizer": {"beta1": 0.8}}'
    (tmp_path / "preset.json").write_text(preset, encoding="utf-8")
    (tmp_path / "mine.json").write_text(config, encoding="utf-8")
    (tmp_path / "train.sh").write_text(ONETRAINER.format("3e-4"), encoding="utf-8")
    (run,) = loralint.check(tmp_path / "train.sh", show_settings=True).runs
    values = {row.parameter: row.value for row in run.settings}
    expected = {"optim.lr": 3e-4, "batch.micro": 4, "optim.weight_decay": 0.1, "optim.beta1": 0.8, "train.epochs": 3}
    assert {field: values[field].value for field in expected} == expected
    assert [one.value for one in values["batch.micro"].shadowed] == [9]
    assert run.framework == "onetrainer"
    assert not run.findings


def test_a_value_for_a_key_that_is_none(tmp_path):
    line = "python scripts/train.py --config-path mine.json --config-value learning_rte=1e-4\n"
    (tmp_path / "mine.json").write_text(
        '{"training_method": "LORA", "model_type": "CHROMA_1", "lora_rank": 16, "learning_rate": 1e-4}',
        encoding="utf-8",
    )
    (tmp_path / "train.sh").write_text(line, encoding="utf-8")
    (run,) = loralint.check(tmp_path / "train.sh").runs
    assert [(one.rule, one.key) for one in run.findings] == [("LL101", "learning_rte")]
    assert run.findings[0].message.startswith("training stops before it starts")


PIPE = "NCCL_P2P_DISABLE=1 deepspeed --num_gpus=2 train.py --deepspeed --config examples/wan.toml\n"


def test_diffusion_pipe_without_its_config_is_named_and_not_judged(tmp_path):
    (tmp_path / "train.sh").write_text(PIPE, encoding="utf-8")
    (run,) = loralint.check(tmp_path).runs
    assert run.framework == "diffusion-pipe"
    assert "what a file of the run says: `examples/wan.toml` is not in the folder" in [one.message for one in run.notes]
    assert not run.findings


@pytest.mark.parametrize(
    "line", ["python train.py --config x.toml", "deepspeed train.py --deepspeed ds.json --config x.toml"]
)
def test_a_program_of_nobody_with_a_config_is_no_run(tmp_path, line):
    (tmp_path / "train.sh").write_text(line, encoding="utf-8")
    assert not loralint.check(tmp_path).runs
