"""What the last line of a refusal says to write, where no one value is the right one."""

from __future__ import annotations

import pytest

from loralint.api import check

AXOLOTL = "base_model: org/llama\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\nbf16: treu\n"
LITGPT = (
    "checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf\nlora_r: 8\nlora_alpha: 16\nlora_query: false\n"
    "lora_key: false\nlora_value: false\nlora_projection: false\nlora_mlp: false\nlora_head: false\n"
    "data: {class_path: litgpt.data.Alpaca2k}\ntrain: {global_batch_size: 8, micro_batch_size: 2, epochs: 1}\n"
)
SIMPLETUNER = (
    "model_type: lora\nmodel_family: sdxl\noptimizer: adamw_bf16\noutput_dir: out\nlora_rank: 16\n"
    "data_backend_config: backends.json\nmax_train_steps: 100\n"
)


@pytest.mark.parametrize(
    ("text", "key", "help_"),
    [
        (AXOLOTL, "bf16", "write auto or true or false for `bf16`"),
        (LITGPT, "lora_query", "write `lora_query: true`"),
        (SIMPLETUNER, "max_train_steps", "write num_train_epochs: 0 beside it"),
    ],
)
def test_the_last_line_says_what_to_write(tmp_path, text, key, help_):
    (tmp_path / "config.yaml").write_text(text)
    [run] = check(tmp_path).runs
    [found] = [one for one in run.findings if one.rule == "LL108" and one.key == key]
    assert found.help.startswith(help_)
