"""What AdaLoRA stops at and what it never reads."""

from __future__ import annotations

import pytest

SCRIPT = """
    from peft import AdaLoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
    model = get_peft_model(model, AdaLoraConfig(task_type="CAUSAL_LM", {given}))
    trainer = Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows)
    trainer.train()
"""
MOVED = """
    class Ranks(TrainerCallback):
        def on_optimizer_step(self, args, state, control, **kwargs):
            model.base_model.update_and_allocate(state.global_step)
"""
STEPS = "init_r=12, target_r=4, tinit=100, tfinal=300, total_step=1000"


def told(run, given, text=SCRIPT + MOVED, **pins):
    _, layer = run(text.replace("{given}", given), **pins)
    return {one.value.key.removeprefix("AdaLoraConfig."): one.effect for one in layer.observations}


def test_a_schedule_that_is_moved_on_is_sound(run):
    assert told(run, STEPS) == {}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("r=8, total_step=1000", {}),  # what it is by default
        ("r=16, total_step=1000", {"r": "lost"}),
        ("init_r=12, tinit=100", {"total_step": "crash"}),
        ("total_step=None", {"total_step": "crash"}),
        ("tinit=600, tfinal=400, total_step=1000", {"tinit": "crash"}),
        ("tfinal=1000, total_step=1000", {"tfinal": "crash"}),
        ("tinit=599, tfinal=400, total_step=1000", {}),
        ("tinit=600, tfinal=400, total_step=steps", {}),
        ("**given", {}),
    ],
)
def test_what_is_told(run, given, found):
    assert told(run, given) == found


def test_releases_before_0_15_did_not_look(run):
    assert told(run, "tinit=600, tfinal=400, total_step=1000", peft="0.14.0") == {}
    assert told(run, "init_r=12", peft="0.14.0") == {}


def test_a_trainer_moves_no_rank_by_itself(run):
    _, layer = run(SCRIPT.replace("{given}", STEPS))
    (one,) = layer.observations
    assert (one.value.key, one.effect, one.package) == ("AdaLoraConfig.target_r", "lost", "peft")
    assert "update_and_allocate" in one.message
