"""A value that is filled in when the run starts may turn out right, and is no fault."""

from __future__ import annotations

import pytest

import loralint

SWIFT = "model: Qwen/Qwen2.5-7B-Instruct\ntuner_type: lora\ndataset: [org/rows]\nlearning_rate: 1e-4\n"
LITGPT = "checkpoint_dir: checkpoints/org/m\nprecision: bf16-true\nlora_r: 8\nlora_query: true\n"
AUTOTRAIN = """\
task: llm-sft
base_model: org/m
project_name: x
log: none
backend: local
data: {path: d, train_split: train, valid_split: "${SPLIT}", chat_template: null, column_mapping: {text_column: text}}
params: {peft: "${PEFT}", quantization: int4, lr: 1e-4}
hub: {username: u, token: null, push_to_hub: false}
"""
MLX = "model: org/m\ntrain: true\niters: 600\nfine_tune_type: lora\nlearning_rate: 1e-5\n"


@pytest.mark.parametrize(
    "text",
    [
        SWIFT + "quant_method: bnb\nquant_bits: ${BITS}\n",
        SWIFT + "packing: true\nattn_impl: ${KERNEL}\n",
        LITGPT + "train: {max_norm: '${NORM}', epochs: 1, global_batch_size: 8}\n",
        AUTOTRAIN,
        MLX + "lr_schedule: {name: cosine_decay, arguments: ['${LR}', 600]}\n",
    ],
)
def test_no_fault(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    (run,) = loralint.check(path).runs
    assert [one for one in run.findings if one.tier in "SA"] == []
