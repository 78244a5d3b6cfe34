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
        keys_of("no-such-trainer")


@pytest.mark.parametrize(
    ("framework", "wanted", "written"),
    [
        ("axolotl", "adapter.method=lora", "adapter: lora"),
        ("llamafactory", "adapter.method=lora", "finetuning_type: lora"),
        ("trl", "adapter.method=lora", "use_peft: true"),
        ("trl", "model.dtype=fp32", "dtype: float32"),
        ("trl", "optim.lr=2e-5", "learning_rate: 2.0e-05"),
        ("trl", "adapter.rank=16", "lora_r: 16"),
        ("trl", "precision.bf16=false,precision.fp16=true", "bf16: false and fp16: true"),
        ("simpletuner", "precision.bf16=false,precision.fp16=true", "mixed_precision: fp16"),
        ("torchtune", "precision.bf16=false,precision.fp16=true", "dtype: fp32"),
        ("peft", "optim.lr=2e-5", "optim.lr: 2e-5"),
        ("h2o", "precision.bf16=false,precision.fp16=true", "environment.mixed_precision_dtype: float16"),
        ("litgpt", "precision.bf16=false,precision.fp16=true", 'precision: "16-mixed"'),
        ("verl", "adapter.method=lora", "actor_rollout_ref.model.lora_rank: 16"),
        ("openrlhf", "adapter.method=lora", "ds.lora.rank: 16"),
        ("autotrain", "model.attention=sdpa", "params.use_flash_attention_2: false"),
        ("megatron-bridge", "precision.fp16=true", "mixed_precision: fp16_mixed"),
        ("nemo-rl", "model.dtype=bf16", "policy.precision: bfloat16"),
    ],
)
def test_the_setting_that_a_user_would_write(framework, wanted, written):
    assert keys_of(framework)(wanted) == written
