"""The rate of a program whose optimizer is not the one that its arguments name."""

from __future__ import annotations

import pytest

import loralint
from loralint.model import Unknown

HEAD = """import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, get_cosine_schedule_with_warmup
from trl import SFTTrainer, SFTConfig
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", dtype=torch.bfloat16)
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"))
"""
OWN = "opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1.5e-4)\n"


def run_of(tmp_path, text):
    program = tmp_path / "train.py"
    program.write_text(f"{HEAD}{text}trainer.train()\n")
    (run,) = loralint.check(program, show_settings=True).runs
    return run, {row.parameter: row.value.value for row in run.settings}


def trainer(args="SFTConfig('o', bf16=True)", more=""):
    return f"trainer = SFTTrainer(model=model, args={args}, train_dataset=None{more})\n"


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        (OWN + trainer(more=", optimizers=(opt, None)"), 1.5e-4),
        (OWN + trainer("SFTConfig('o', learning_rate=9e-4)", ", optimizers=(opt, None)"), 1.5e-4),
        (trainer(more=", optimizers=(torch.optim.AdamW(model.parameters()), None)"), 1e-3),
        (trainer(more=", optimizers=(None, None)"), 2e-5),
        (trainer(more=", optimizer_cls_and_kwargs=(torch.optim.AdamW, {'lr': 1.5e-4})"), 1.5e-4),
        (trainer("SFTConfig('o').set_training(learning_rate=1.5e-4, batch_size=4)"), 1.5e-4),
        (trainer("SFTConfig('o').set_training(1.5e-4).set_evaluate('no')"), 1.5e-4),
        (trainer("SFTConfig('o', learning_rate=3e-4).set_training(batch_size=4)"), 5e-5),
        (trainer("SFTConfig('o').set_optimizer('sgd', learning_rate=1.5e-4)"), 1.5e-4),
        (trainer() + "trainer.args.learning_rate = 1.5e-4\n", 1.5e-4),
        (trainer() + "trainer.train()\ntrainer.args.learning_rate = 1.5e-4\n", None),
        (trainer(more=", optimizers=make(model)"), None),
        (trainer(more=", optimizers=(make(model), None)"), None),
        ("opt = torch.optim.AdamW([{'params': model.parameters(), 'lr': 2e-4}])\n"
         + trainer(more=", optimizers=(opt, None)"), None),
        (trainer() + "trainer.optimizer = make(model)\n", None),
        ("class T(SFTTrainer):\n    def create_optimizer(self):\n        return None\n"
         + trainer().replace("SFTTrainer", "T"), None),
        ("class T(SFTTrainer):\n    def create_optimizer(self):\n        return None\n"
         + trainer("SFTConfig('o', learning_rate=3e-4)").replace("SFTTrainer", "T"), 3e-4),
    ],
)  # fmt: skip
def test_the_rate_that_counts(tmp_path, text, rate):
    _, settings = run_of(tmp_path, text)
    assert isinstance(settings["optim.lr"], Unknown) if rate is None else settings["optim.lr"] == rate


def test_what_else_a_setter_puts_back(tmp_path):
    _, settings = run_of(tmp_path, trainer("SFTConfig('o', weight_decay=0.1).set_training(1e-4, 4, num_epochs=2)"))
    assert (settings["batch.micro"], settings["optim.weight_decay"], settings["train.epochs"]) == (4, 0, 2)


def test_a_schedule_that_the_program_makes(tmp_path):
    handed = OWN + "s = get_cosine_schedule_with_warmup(opt, 10, 100)\n" + trainer(more=", optimizers=(opt, s)")
    _, settings = run_of(tmp_path, handed)
    assert isinstance(settings["schedule.name"], Unknown)
    _, settings = run_of(tmp_path, OWN + trainer(more=", optimizers=(opt, None)"))
    assert settings["schedule.name"] == "linear"


def test_nobody_is_told_that_no_rate_is_set(tmp_path):
    run, _ = run_of(tmp_path, OWN + trainer(more=", optimizers=(opt, None)"))
    assert not [one.rule for one in run.findings]
    run, _ = run_of(tmp_path, OWN.replace("1.5e-4", "0.5") + trainer(more=", optimizers=(opt, None)"))
    assert [(one.rule, one.key) for one in run.findings] == [("LL405", "AdamW.lr")]
