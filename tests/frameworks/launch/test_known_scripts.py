"""What well-known scripts refuse of their flags."""

from __future__ import annotations

import pytest

from loralint.frameworks.launch.known_scripts import refused_by_scripts

VISION = "deepspeed src/train/train_sft.py --model_id Qwen/Qwen2.5-VL-3B-Instruct "
QWEN = "torchrun --nproc_per_node 4 finetune.py --use_lora --deepspeed finetune/ds_config_zero{stage}.json "
LLAVA = "deepspeed llava/train/train_mem.py --vision_tower openai/clip-vit-large-patch14 --mm_projector_type linear "


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        (LLAVA + "--bits 4 --deepspeed scripts/zero3.json", ["bits"]),
        (LLAVA + "--bits 4 --deepspeed scripts/zero2.json", []),
        (LLAVA + "--bits 16 --deepspeed scripts/zero3.json", []),
        (VISION + "--lora_enable True --freeze_llm False", ["freeze_llm"]),
        (VISION + "--lora_enable True --freeze_llm True", []),
        (VISION + "--lora_enable False --freeze_llm False", []),
        (VISION + "--lora_enable True --freeze_llm $FREEZE", []),
        (VISION.replace("Qwen/Qwen2.5-VL", "org/SmolVLM") + "--lora_enable True --freeze_llm False", []),
        (VISION + "--vision_lora True --lora_enable False", ["vision_lora"]),
        (QWEN.format(stage=3) + "--model_name_or_path Qwen/Qwen-7B", ["deepspeed"]),
        (QWEN.format(stage=2) + "--model_name_or_path Qwen/Qwen-7B", []),
        (QWEN.format(stage=3) + "--model_name_or_path Qwen/Qwen-7B-Chat", []),
        (QWEN.format(stage=3) + "--model_name_or_path Qwen/Qwen2-7B", []),
        (QWEN.format(stage=3) + "--q_lora --model_name_or_path Qwen/Qwen-7B", []),
    ],
)
def test_flags_that_a_script_refuses(find, line, keys):
    (launch,) = find(line)
    assert [one.value.key for one in refused_by_scripts(launch)] == keys
