from __future__ import annotations

import pytest

from loralint.run.spelling import keys_of


@pytest.mark.parametrize(
    ("framework", "field", "key"),
    [
        ("axolotl", "adapter.rank", "lora_r"),
        ("llamafactory", "data.sequence_len", "cutoff_len"),
        ("trl", "data.sequence_len", "max_length"),
        ("torchtune", "optim.lr", "optimizer.lr"),
        ("peft", "optim.lr", "optim.lr"),
        ("hf", "eval.strategy", "eval_strategy"),
    ],
)
def test_the_key_that_a_user_would_write(framework, field, key):
    assert keys_of(framework)(field) == key


def test_an_unknown_framework_is_refused():
    with pytest.raises(ValueError, match="unknown framework"):
        keys_of("nemo")
