"""Secrets in commands, notebooks and flags: each told once, where it stands, and shown nowhere."""

from __future__ import annotations

import json

import pytest

import loralint
from loralint.source.secrets import redact

TOKEN = "hf_" + "aB3dE6gH9j" * 4  # built at run time, so that no scanner takes this file for a leak
KEY = "0123456789" + "abcdef0123" * 3
TRAINS = "trl sft --model_name_or_path Qwen/Qwen2.5-7B --dataset_name trl-lib/Capybara --use_peft --output_dir o\n"
SCRIPT = """import argparse
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
p = argparse.ArgumentParser()
p.add_argument("--hub_token")
p.add_argument("--output_dir")
a = p.parse_args()
m = get_peft_model(AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B"), LoraConfig(r=8))
Trainer(model=m, args=TrainingArguments(a.output_dir, bf16=True)).train()
"""


def leaks(path):
    found = [one for run in loralint.check(path).runs for one in run.findings if one.rule == "LL120"]
    return sorted((one.span.cell or 0, one.span.line, one.key) for one in found)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f"wandb login {KEY}", "wandb login"),
        (f"wandb login --relogin {KEY}", "wandb --relogin"),
        (f"huggingface-cli login --token {TOKEN}", "huggingface-cli --token"),
        (f"hf auth login --token {TOKEN}", "hf --token"),
        (f"hf auth login --token={TOKEN}", "--token"),
        ("pip install git+https://user:s3cretPassw0rd@host.org/x.git", "pip install"),
    ],
)
def test_a_login_beside_a_training(tmp_path, line, name):
    script = tmp_path / "run.sh"
    script.write_text(f"{line}\n{TRAINS}")
    assert leaks(script) == [(0, 1, name)]


@pytest.mark.parametrize(
    "line", ["wandb login $WANDB_API_KEY", 'hf auth login --token "$HF_TOKEN"', f"git checkout {KEY}", "wandb login"]
)
def test_what_is_no_secret(tmp_path, line):
    script = tmp_path / "run.sh"
    script.write_text(f"{line}\n{TRAINS}")
    assert leaks(script) == []


def test_lines_of_a_notebook_and_one_argument_inside_another(tmp_path):
    program = (
        "from trl import SFTTrainer, SFTConfig\nfrom peft import LoraConfig\n"
        f"t = SFTTrainer('Qwen/Qwen2.5-7B', args=SFTConfig('o', hub_token='{TOKEN}'), train_dataset=None,"
        " peft_config=LoraConfig(r=8))\nt.train()"
    )
    cells = [f"!hf auth login --token {TOKEN}", f"%env WANDB_API_KEY={KEY}", program]
    kept = [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": c} for c in cells]
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": kept}))
    assert leaks(notebook) == [(1, 1, "hf --token"), (2, 1, "WANDB_API_KEY"), (3, 3, "SFTConfig.hub_token")]


def test_flags_that_the_script_takes_itself_are_told_on_the_line_that_gives_them(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    script = tmp_path / "run.sh"
    script.write_text(f"echo\npython train.py --hub_token {TOKEN} --output_dir s3://me:s3cretPassw0rd@bucket/x\n")
    assert leaks(script) == [(0, 2, "hub_token"), (0, 2, "output_dir")]
    (run,) = loralint.check(script).runs
    assert {one.span.file for one in run.findings if one.rule == "LL120"} == {str(script)}


@pytest.mark.parametrize("text", [f"wandb login {KEY}", f'wandb.login("{KEY}")', f'["wandb", "login", "{KEY}"]'])
def test_a_key_behind_a_login_is_masked(text):
    assert KEY not in redact(text)
