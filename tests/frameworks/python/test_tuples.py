"""Objects that a comma put into a tuple."""

from __future__ import annotations

import pytest

SCRIPT = """
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    from trl import SFTConfig, SFTTrainer
    bits = BitsAndBytesConfig(load_in_4bit=True){bits}
    lora = LoraConfig(r=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"){lora}
    args = SFTConfig(output_dir="out", learning_rate=2e-4){args}
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", quantization_config=bits)
    SFTTrainer(model=model, args=args, peft_config=lora, train_dataset=rows).train()
"""


@pytest.mark.parametrize(
    ("comma", "told"),
    [
        ({}, []),
        ({"args": ","}, ["SFTTrainer.args"]),
        ({"lora": ","}, ["SFTTrainer.peft_config"]),
        ({"bits": ","}, ["from_pretrained.quantization_config"]),
    ],
)
def test_a_comma_behind_a_call(run, comma, told):
    _, layer = run(SCRIPT.format(**{"bits": "", "lora": "", "args": "", **comma}))
    assert [(one.value.key, one.effect) for one in layer.observations] == [(key, "crash") for key in told]


def test_what_the_object_is_stands_in_the_advice(run):
    _, layer = run(SCRIPT.format(bits="", lora="", args=","))
    assert layer.observations[0].data["advice"] == "leave out the comma behind SFTConfig(...)"
