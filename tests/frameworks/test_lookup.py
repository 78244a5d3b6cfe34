"""What is taken for a slip of the pen."""

from __future__ import annotations

import pytest

from loralint.frameworks.lookup import closest

KNOWN = ["type", "lora_rank", "gradient_checkpointing", "remove_unused_columns", "disable_tqdm", "bf16", "fp16"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lora_rnak", "lora_rank"),
        ("tpye", "type"),
        ("gradient_checkpoint", "gradient_checkpointing"),
        ("no_remove_unused_columns", ""),
        ("disable_gradient_checkpointing", ""),
        ("tqdm", ""),
        ("zebra", ""),
    ],
)
def test_the_word_that_was_meant(word: str, meant: str) -> None:
    assert closest(word, KNOWN) == meant
