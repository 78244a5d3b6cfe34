"""Labels with the padding in them, however a program writes them down."""

from __future__ import annotations

import json

import pytest

from loralint.api import check

HEAD = """\
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
model = get_peft_model(model, LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM"))
"""
MAPPED = """\
def encode(row):
    out = tokenizer(row["text"], padding="max_length", max_length=512)
    {labels}
    return out
Trainer(model=model, args=TrainingArguments("out", learning_rate=1e-4), train_dataset=rows.map(encode)).train()
"""
LOOP = """\
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for text in texts:
    batch = tokenizer(text, padding='max_length', max_length=512, return_tensors="pt")
    loss = model(**batch, {labels}).loss
    loss.backward()
    optimizer.step()
model.save_pretrained("out")
"""


def _told(folder):
    return [one.key for run in check(folder).runs for one in run.findings if one.rule == "LL986"]


@pytest.mark.parametrize(
    ("text", "labels", "told"),
    [
        (MAPPED, 'out["labels"] = out["input_ids"].copy()', True),
        (MAPPED, "out['labels'] = out['input_ids']", True),
        (MAPPED, 'out.update({"labels": out["input_ids"]})', True),
        (MAPPED, 'out["labels"] = answers["input_ids"] if answers else None', False),
        (MAPPED, 'out["labels"] = [one or -100 for one in out["input_ids"]]', False),
        (MAPPED, 'out["labels"] = row["label"]', False),
        (LOOP, 'labels=batch["input_ids"]', True),
        (LOOP, "labels=batch.input_ids.clone()", True),
        (LOOP, "labels=masked(batch)", False),
    ],
)
@pytest.mark.parametrize("notebook", [False, True])
def test_labels(tmp_path, text, labels, told, notebook):
    program = HEAD + text.replace("{labels}", labels)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": program.splitlines(keepends=True)}
    book = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / ("train.ipynb" if notebook else "train.py")).write_text(book if notebook else program)
    assert _told(tmp_path) == (["labels"] if told else [])
