"""What TRL's trainers refuse of several keys, in configs and in programs."""

from __future__ import annotations

import pytest

from loralint.api import check
from loralint.frameworks.readers.trl_refusals import refused_by_trl
from loralint.source.document import Document

CONFIG = "model_name_or_path: org/llama\ndataset_name: org/rows\nuse_peft: true\nlearning_rate: 1.0e-6\n"
PROGRAM = """\
from peft import LoraConfig
from trl import {task}Config, {task}Trainer

args = {task}Config(output_dir="out", learning_rate=1e-6, {words})
{task}Trainer(model="org/llama", args=args, train_dataset=rows, {more}peft_config=LoraConfig(r=8)).train()
"""


def told(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    runs = check(tmp_path).runs
    return {one.key for run in runs for one in run.findings if one.rule == "LL108"}


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        ("num_generations: 8\nauto_find_batch_size: true\n", {"auto_find_batch_size"}),
        ("num_generations: 8\nsync_ref_model: true\nuse_peft: false\n", {"sync_ref_model"}),
        ("num_generations: 8\nsync_ref_model: true\nbeta: 0.04\n", {"sync_ref_model"}),
        ("num_generations: 8\nuse_liger_kernel: true\ntop_entropy_quantile: 0.2\n", {"top_entropy_quantile"}),
        ("reward_funcs: [a.b, c.d]\nreward_weights: [1.0]\nnum_generations: 8\n", {"reward_weights"}),
        ("reward_funcs: [a.b, c.d]\nreward_weights: [1.0, 0.5]\nnum_generations: 8\n", set()),
        ("num_generations: 8\ntemperature: 0.0\n", {"temperature"}),
        ("num_generations: 8\ntemperature: 0.6\n", set()),
        ("num_generations: 8\ntemperature: 0\nuse_vllm: true\n", set()),
        ("packing: true\nauto_find_batch_size: true\n", set()),
        ("loss_type: [sigmoid, sft]\nuse_liger_kernel: true\n", {"loss_type"}),
        ("loss_type: sigmoid\nprecompute_ref_log_probs: true\nuse_liger_kernel: true\n", {"precompute_ref_log_probs"}),
        ("loss_type: sigmoid\nprecompute_ref_log_probs: true\n", set()),
        ("loss_type: sigmoid\nuse_liger_kernel: true\n", set()),  # since 1.8 adapters are allowed for
    ],
)
def test_in_a_config(tmp_path, lines, keys):
    text = CONFIG.replace("use_peft: true\n", "") if "use_peft" in lines else CONFIG
    assert told(tmp_path, "config.yaml", text + lines) == keys


@pytest.mark.parametrize(
    ("task", "words", "more", "keys"),
    [
        ("GRPO", "auto_find_batch_size=True", "reward_funcs=score, ", {"GRPOConfig.auto_find_batch_size"}),
        ("GRPO", "sync_ref_model=True, beta=0.04", "reward_funcs=score, ", {"GRPOConfig.sync_ref_model"}),
        ("GRPO", "temperature=0.0", "reward_funcs=score, ", {"GRPOConfig.temperature"}),
        ("RLOO", "temperature=0", "reward_funcs=score, ", {"RLOOConfig.temperature"}),
        ("GRPO", "temperature=0.0, use_vllm=True", "reward_funcs=score, ", set()),
        ("GRPO", "temperature=cold", "reward_funcs=score, ", set()),
        ("GRPO", "reward_weights=[1.0, 2.0]", "reward_funcs=[a, b, c], ", {"GRPOConfig.reward_weights"}),
        ("GRPO", "reward_weights=[1.0, 2.0, 3.0]", "reward_funcs=[a, b, c], ", set()),
        ("GRPO", "reward_weights=[1.0, 2.0, 3.0]", "reward_funcs=[*funcs, c], ", set()),
        ("GRPO", "reward_weights=weights", "reward_funcs=[a, b, c], ", set()),
        ("DPO", "loss_type='exo_pair'", "", {"DPOConfig.loss_type"}),
        ("DPO", "loss_type='exo_pair', label_smoothing=1e-3", "", set()),
        ("DPO", "loss_type='exo_pair', **more", "", set()),
        ("SFT", "completion_only_loss=True", "formatting_func=text_of, ", {"SFTConfig.completion_only_loss"}),
        ("SFT", "completion_only_loss=True", "", set()),
    ],
)
def test_in_a_program(tmp_path, task, words, more, keys):
    assert told(tmp_path, "train.py", PROGRAM.format(task=task, words=words, more=more)) == keys


def test_nothing_is_no_fault():
    assert refused_by_trl(Document("config.yaml", "yaml", ""), None) == []


@pytest.mark.parametrize(
    ("task", "words", "release", "keys"),
    [
        ("DPO", "use_liger_kernel=True", "1.4.0", {"DPOConfig.use_liger_kernel"}),
        ("DPO", "use_liger_kernel=True", "1.8.0", set()),
        ("KTO", "use_liger_kernel=True", "1.7.0", {"KTOConfig.use_liger_kernel"}),
        ("KTO", "use_liger_loss=True", "0.24.0", {"KTOConfig.use_liger_loss"}),
        ("SFT", "use_liger_kernel=True", "1.4.0", set()),
    ],
)
def test_liger_beside_an_adapter(tmp_path, task, words, release, keys):
    (tmp_path / "requirements.txt").write_text(f"trl=={release}\n")
    assert told(tmp_path, "train.py", PROGRAM.format(task=task, words=words, more="")) == keys
