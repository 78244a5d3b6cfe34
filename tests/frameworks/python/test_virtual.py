"""Prefixes with a projection that are loaded back into the model that saved them."""

from __future__ import annotations

import pytest

SCRIPT = """
    from peft import {config}, get_peft_model
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
    model = get_peft_model(model, {config}(task_type="CAUSAL_LM", num_virtual_tokens=20{more}))
    args = TrainingArguments(output_dir="out", load_best_model_at_end={best})
    Trainer(model=model, args=args, train_dataset=rows).train({resume})
"""
PROJECTED = ", prefix_projection=True"


@pytest.mark.parametrize(
    ("config", "more", "best", "resume", "found"),
    [
        ("PrefixTuningConfig", PROJECTED, True, "", ["TrainingArguments.load_best_model_at_end"]),
        ("PrefixTuningConfig", PROJECTED, False, "'out/checkpoint-5'", ["train.resume_from_checkpoint"]),
        ("PrefixTuningConfig", PROJECTED, False, "True", ["train.resume_from_checkpoint"]),
        ("PrefixTuningConfig", PROJECTED, False, "resume_from_checkpoint=None", []),
        ("PrefixTuningConfig", PROJECTED, False, "resume_from_checkpoint=last", []),
        ("PrefixTuningConfig", PROJECTED, False, "", []),
        ("PrefixTuningConfig", "", True, "", []),
        ("PrefixTuningConfig", ", prefix_projection=projected", True, "", []),
        ("PromptTuningConfig", "", True, "", []),
    ],
)  # fmt: skip
def test_what_is_loaded_back(run, config, more, best, resume, found):
    _, layer = run(SCRIPT.format(config=config, more=more, best=best, resume=resume))
    assert [one.value.key for one in layer.observations if one.kind == "encoder-lost"] == found
