"""Strings of a list that became one for want of a comma: one finding, and nothing more of what nobody meant."""

from __future__ import annotations

import pytest

import loralint

PROGRAM = """\
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, task_type="CAUSAL_LM", target_modules=[{}]))
Trainer(model, TrainingArguments(output_dir="out", learning_rate=2e-4, bf16=True), train_dataset=rows).train()
"""


@pytest.mark.parametrize(
    ("names", "tier"),
    [
        ('"q_proj", "k_proj" "v_proj", "o_proj"', "A"),
        ('"q_proj" "v_proj"', "S"),  # PEFT finds no module of that name
        ('"q_proj", "v_proj"', None),
    ],
)
def test_it_is_told_once(tmp_path, names, tier):
    (tmp_path / "train.py").write_text(PROGRAM.format(names), encoding="utf-8")
    (run,) = loralint.check(tmp_path).runs
    told = [(one.rule, one.tier, one.key) for one in run.findings]
    assert told == ([("LL107", tier, "LoraConfig.target_modules")] if tier else [])
