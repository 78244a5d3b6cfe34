"""A launched program is judged by itself, whatever was looked at before it in the same process."""

from __future__ import annotations

import pytest

from loralint.api import check

PROGRAM = """
import torch
from accelerate import Accelerator
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B", torch_dtype=torch.bfloat16)
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, task_type="CAUSAL_LM"))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
accelerator = Accelerator(gradient_accumulation_steps=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(model):
        {first}
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        {last}
"""
EMPTIED_FIRST = PROGRAM.format(first="optimizer.zero_grad()", last="pass")
SOUND = PROGRAM.format(first="pass", last="optimizer.zero_grad()")


def told(folder, program):
    folder.mkdir()
    (folder / "train.py").write_text(program)
    (folder / "run.sh").write_text("python train.py\n")
    return [one.rule for run in check(folder).runs for one in run.findings if one.rule == "LL178"]


@pytest.mark.parametrize(("before", "then", "found"), [(EMPTIED_FIRST, SOUND, []), (SOUND, EMPTIED_FIRST, ["LL178"])])
def test_what_one_program_does_is_not_told_of_the_next(tmp_path, before, then, found):
    told(tmp_path / "before", before)
    assert told(tmp_path / "then", then) == found
