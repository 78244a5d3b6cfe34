"""torchtune's recipes: what their names and the configs that come with them say, under settings on the command line."""

from __future__ import annotations

import pytest

import loralint


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("lora_finetune_single_device --config llama3_1/8B_lora_single_device optimizer.lr=2e-4", set()),
        ("lora_finetune_single_device --config llama3_1/8B_lora_single_device optimizer.lr=0.02", {"LL401"}),
        ("--nproc_per_node 2 lora_dpo_distributed --config llama3_1/8B_lora_dpo optimizer.lr=5e-4", {"LL401"}),
        ("full_finetune_single_device --config llama3_1/8B_full optimizer.lr=0.02", set()),  # nothing known of these
        ("lora_finetune_single_device --config mine.yaml optimizer.lr=0.02", set()),
    ],
)
def test_a_rate_for_a_recipe(tmp_path, line, rules):
    (tmp_path / "run.sh").write_text(f"tune run {line}\n", encoding="utf-8")
    (run,) = loralint.check(tmp_path / "run.sh").runs
    assert {one.rule for one in run.findings} == rules


def test_a_config_of_ones_own_says_it_itself(tmp_path):
    text = "model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b\n"
    text += "optimizer:\n  _component_: torch.optim.SGD\n  lr: 0.1\n"
    (tmp_path / "mine.yaml").write_text(text + "batch_size: 2\nepochs: 1\noutput_dir: out\n", encoding="utf-8")
    line = "tune run lora_finetune_single_device --config mine.yaml optimizer.lr=0.02\n"
    (tmp_path / "run.sh").write_text(line, encoding="utf-8")
    (run,) = loralint.check(tmp_path / "run.sh", show_settings=True).runs
    values = {row.parameter: row.value.value for row in run.settings}
    assert values["optim.name"] == "torch.optim.sgd"
    assert values["adapter.method"] != "lora"
