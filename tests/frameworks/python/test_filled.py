"""Numbers that nobody fills in for DeepSpeed."""

from __future__ import annotations

import pytest

SCRIPT = """
    import deepspeed
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM
    {more}
    model = get_peft_model(AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1.4b"), LoraConfig(r=16))
    given = {{"train_batch_size": {number}, "zero_optimization": {{"stage": 2}}}}
    {then}
    engine, *_ = deepspeed.initialize(model=model, config=given)
    engine.backward(engine(**batch).loss)
"""


@pytest.mark.parametrize(
    ("number", "more", "then", "found"),
    [
        ('"auto"', "", "", True),
        ('"auto"', "", "print(given)", True),
        ('"auto"', "", 'given["train_batch_size"] = 16', False),
        ('"auto"', "from tools import fill", "fill(given)", False),
        ('"auto"', "", "HfTrainerDeepSpeedConfig(given).trainer_config_process(args)", False),
        ("16", "", "", False),
    ],
)
def test_a_number_that_is_left_to_nobody(read, number, more, then, found):
    (start,) = read(SCRIPT.format(number=number, more=more, then=then))
    told = [one.value.key for one in start.observations if one.kind == "rejected"]
    assert told == ["config.train_batch_size"] * found
