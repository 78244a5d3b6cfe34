"""What the text of a program leaves open: an adapter in a branch, weights that it fills or gathers itself."""

from __future__ import annotations

import json

import pytest

import loralint

LOADED = """import argparse
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=0)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
"""
GUARDED = """if args.rank > 0:
    model = get_peft_model(model, LoraConfig(r=args.rank, task_type="CAUSAL_LM"))
"""
ALWAYS = 'model = get_peft_model(model, LoraConfig(r=args.rank, task_type="CAUSAL_LM"))\n'
TRAINED = (
    'Trainer(model=model, args=TrainingArguments(output_dir="out", learning_rate=1e-4), train_dataset=rows).train()\n'
)
LOOP = """from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
model = get_peft_model(model, LoraConfig(r=8, init_lora_weights=False, target_modules=["q_proj"]))
"""
SPLIT = """from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"], task_type="CAUSAL_LM"))
args = TrainingArguments(output_dir="out", learning_rate=1e-4, bf16=True, deepspeed="ds.json")
trainer = Trainer(model=model, args=args, train_dataset=rows)
trainer.train()
"""


def told(tmp_path, rule, text, line="python train.py"):
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "train.sh").write_text(f"{line}\n")
    (run,) = loralint.check(str(tmp_path / "train.sh")).runs
    return [one.tier for one in run.findings if one.rule == rule]


@pytest.mark.parametrize(
    ("wrap", "line", "tiers"),
    [
        (GUARDED, "python train.py", []),
        (GUARDED, "python train.py --rank -1", ["S"]),
        (ALWAYS, "python train.py", ["S"]),
        (ALWAYS, "python train.py --rank 8", []),
    ],
)
def test_a_rank_of_0_may_mean_no_adapter_where_one_is_made_in_a_branch(tmp_path, wrap, line, tiers):
    assert told(tmp_path, "LL304", LOADED + wrap + TRAINED, line) == tiers


@pytest.mark.parametrize(("reft", "told_of"), [("", ["A"]), ("model = pyreft.get_reft_model(model, config)\n", [])])
def test_interventions_of_pyreft_take_a_rate_of_their_own(tmp_path, reft, told_of):
    text = LOADED.replace("default=0", "default=8") + GUARDED + reft
    assert told(tmp_path, "LL401", text + TRAINED.replace("1e-4", "5e-3")) == told_of


@pytest.mark.parametrize(
    ("more", "tiers"),
    [
        ("loss = model(**batch).loss\nloss.backward()\n", ["A"]),
        ("model.load_state_dict(kept, strict=False)\nmodel.train()\n", []),
        ("model.eval()\n", []),
    ],
)
def test_a_random_adapter_is_a_fault_where_it_trains_as_it_is(tmp_path, more, tiers):
    (tmp_path / "train.py").write_text(LOOP + more)
    found = [one for run in loralint.check(str(tmp_path)).runs for one in run.findings if one.rule == "LL347"]
    assert [one.tier for one in found] == tiers


@pytest.mark.parametrize(
    ("more", "tiers"),
    [
        ("", ["S"]),
        ("trainer._save('out', state_dict=trainer.model_wrapped._zero3_consolidated_16bit_state_dict())\n", []),
        ("with deepspeed.zero.GatheredParameters(list(model.parameters())):\n    keep(model)\n", []),
    ],
)
def test_a_program_that_gathers_what_zero3_has_split_saves_it_whole(tmp_path, more, tiers):
    stage = {"bf16": {"enabled": True}, "gradient_clipping": 1.0, "zero_optimization": {"stage": 3}}
    sizes = dict.fromkeys(("train_micro_batch_size_per_gpu", "gradient_accumulation_steps"), "auto")
    (tmp_path / "ds.json").write_text(json.dumps({**sizes, **stage}))
    (tmp_path / "requirements.txt").write_text("transformers==4.57.1\n")
    assert told(tmp_path, "LL515", SPLIT + more, "torchrun --nproc_per_node 2 train.py") == tiers
