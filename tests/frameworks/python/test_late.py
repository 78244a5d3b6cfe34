"""What a program says too late."""

from __future__ import annotations

import json

import pytest

from loralint.api import check

REST = """
model, tokenizer = FastLanguageModel.from_pretrained("unsloth/llama-3-8b-bnb-4bit", max_seq_length=2048)
model = FastLanguageModel.get_peft_model(model, r=16, lora_alpha=16)
SFTTrainer(model=model, train_dataset=rows, args=SFTConfig(output_dir="out", learning_rate=2e-4, max_steps=60)).train()
"""
TRL, UNSLOTH = "from trl import SFTConfig, SFTTrainer\n", "from unsloth import FastLanguageModel\n"


def told(tmp_path, text, name="train.py"):
    (tmp_path / name).write_text(text)
    return [(one.key, one.span.line) for run in check(tmp_path).runs for one in run.findings if one.rule == "LL156"]


@pytest.mark.parametrize(
    ("imports", "wanted"),
    [
        (TRL + UNSLOTH, [("trl", 1)]),
        ("import torch\nimport transformers\n" + UNSLOTH + TRL, [("transformers", 2)]),
        (UNSLOTH + TRL, []),
        ("import unsloth\n" + TRL + UNSLOTH, []),
        ("try:\n    import unsloth\nexcept ImportError:\n    pass\n" + TRL + UNSLOTH, []),
        ("# from trl import what Unsloth rewrites\n" + UNSLOTH + TRL, []),
        ("import trlx\n" + UNSLOTH + TRL, []),
    ],
)
def test_unsloth_comes_before_what_it_rewrites(tmp_path, imports, wanted):
    assert told(tmp_path, imports + REST) == wanted


def test_in_a_notebook(tmp_path):
    def cell(text):
        lines = text.splitlines(keepends=True)
        return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": lines}

    made = {"cells": [cell(TRL), cell(UNSLOTH), cell(REST)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assert [key for key, _ in told(tmp_path, json.dumps(made, indent=1), "train.ipynb")] == ["trl"]
    made["cells"][:2] = reversed(made["cells"][:2])
    assert told(tmp_path, json.dumps(made, indent=1), "train.ipynb") == []
