"""Words that TrainingArguments nearly knows, in files whose reader has no list of them."""

from __future__ import annotations

import pytest

from loralint.api import check

HOMEMADE = (
    "model_name_or_path: org/llama\nuse_lora: true\nlora_r: 8\nlora_alpha: 16\nlearning_rate: 1.0e-4\noutput_dir: out\n"
)
SWIFT = "model: Qwen/Qwen2.5-0.5B\ndataset: [rows.jsonl]\ntuner_type: lora\nlearning_rate: 1.0e-4\n"
AXOLOTL = """\
base_model: org/llama
adapter: lora
lora_r: 8
lora_alpha: 16
lora_target_linear: true
datasets: [{path: rows.jsonl, type: alpaca}]
micro_batch_size: 1
learning_rate: 1.0e-4
"""


def told(tmp_path, text):
    (tmp_path / "config.yaml").write_text(text)
    [run] = check(tmp_path).runs
    return {one.key for one in run.findings if one.rule == "LL108"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (HOMEMADE + "save_strategy: epoch\nlr_scheduler_type: cosin\n", "lr_scheduler_type"),
        (HOMEMADE + "optim: adamw_8bits\n", "optim"),
        (HOMEMADE + "optim: adam\n", None),  # which the script may know
        (HOMEMADE + "optim: adamw_8bit\nsave_strategy: steps\nlr_scheduler_type: cosine\n", None),
        (HOMEMADE + "lr_scheduler_type: cosin\n", None),  # nothing tells that it is for the Trainer
        (HOMEMADE + "save_strategy: ${STRATEGY}\n", None),
        (SWIFT + "save_strategy: step\n", "save_strategy"),
        (SWIFT + "eval_strategy: epochs\n", "eval_strategy"),
        (SWIFT + "optim: adamw_torch_fused\n", None),
        (AXOLOTL + "save_strategy: step\n", "save_strategy"),
        (AXOLOTL + "save_strategy: best\n", None),
    ],
)
def test_a_slip_stops_the_trainer(tmp_path, text, key):
    assert told(tmp_path, text) == ({key} if key else set())
