"""Settings as people write them in each part of a run."""

from __future__ import annotations

import pytest

from loralint.source.literal import pair_shown


@pytest.mark.parametrize(
    ("key", "text", "style", "shown"),
    [
        ("LoraConfig.r", "8", "python", "LoraConfig(r=8)"),
        ("LoraConfig.bias", "none", "python", "LoraConfig(bias='none')"),
        ("SFTConfig.bf16", "false", "python", "SFTConfig(bf16=False)"),
        ("A.kwargs.use_reentrant", "false", "python", "A(kwargs={'use_reentrant': False})"),
        ("A.kwargs.use_reentrant", "False", "python", "A(kwargs={'use_reentrant': False})"),
        ("B.dtype", "torch.bfloat16", "python", "B(dtype=torch.bfloat16)"),
        ("LoraConfig.modules_to_save", "['lm_head']", "python", "LoraConfig(modules_to_save=['lm_head'])"),
        ("lora_r", "8", "flags", "--lora_r 8"),
        ("lora.r", "8", "flags", "lora.r=8"),
        ("lora_r", "8", "settings", "lora_r=8"),
        ("N", "8", "env", "N=8"),
        ("lora_r", "8", "yaml", "lora_r: 8"),
    ],
)
def test_a_setting_is_shown_as_its_part_has_it(key, text, style, shown):
    assert pair_shown(key, text, style) == shown
