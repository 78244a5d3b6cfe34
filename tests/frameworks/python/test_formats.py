"""Names of number formats, layers of IA3, and batches fetched ahead by nobody."""

from __future__ import annotations

import pytest

SCRIPT = """
    import torch
    from peft import {config}
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    from trl import SFTConfig, SFTTrainer
    bits = BitsAndBytesConfig(load_in_4bit=True, {bits})
    lora = {config}({lora})
    args = SFTConfig(output_dir="out", learning_rate=2e-4, {args})
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", quantization_config=bits)
    SFTTrainer(model=model, args=args, peft_config=lora, train_dataset=rows).train()
"""


def told(run, bits="", lora="", args="", config="LoraConfig"):
    _, layer = run(SCRIPT.format(bits=bits, lora=lora, args=args, config=config))
    return [one.value.key for one in layer.observations if one.kind == "rejected"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ('bnb_4bit_compute_dtype="torch.bfloat16"', True),
        ('bnb_4bit_compute_dtype="bf16"', True),
        ('bnb_4bit_compute_dtype="bfloat16"', False),
        ("bnb_4bit_compute_dtype=torch.bfloat16", False),
        ("bnb_4bit_compute_dtype=getattr(torch, name)", False),
        ('bnb_4bit_compute_dtype="a word of nobody"', False),
    ],
)
def test_a_format_that_torch_does_not_have(run, given, found):
    assert told(run, bits=given) == ["BitsAndBytesConfig.bnb_4bit_compute_dtype"] * found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ('target_modules=["q_proj"], feedforward_modules=["down_proj"]', True),
        ('target_modules=["q_proj", "down_proj"], feedforward_modules=["down_proj"]', False),
        ('target_modules=["q_proj", *more], feedforward_modules=["down_proj"]', False),
        ('target_modules="all-linear", feedforward_modules=["down_proj"]', False),
    ],
)
def test_layers_that_ia3_does_not_adapt(run, given, found):
    assert told(run, lora=given, config="IA3Config") == ["IA3Config.feedforward_modules"] * found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("dataloader_prefetch_factor=4", True),
        ("dataloader_prefetch_factor=4, dataloader_num_workers=0", True),
        ("dataloader_prefetch_factor=4, dataloader_num_workers=2", False),
        ("dataloader_prefetch_factor=4, dataloader_num_workers=count", False),
        ("dataloader_prefetch_factor=None", False),
        ("dataloader_prefetch_factor=4, **more", False),
    ],
)
def test_batches_fetched_ahead_by_nobody(run, given, found):
    assert told(run, args=given) == ["SFTConfig.dataloader_prefetch_factor"] * found
