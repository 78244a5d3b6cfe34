"""A rank of 0 among the words of Hydra: an error where the program makes the adapter all the same, else its own."""

from __future__ import annotations

import pytest

import loralint

MADE = "LoraConfig(r=cfg.lora.r, lora_alpha=cfg.lora.alpha, task_type='CAUSAL_LM')"
PROGRAM = """import hydra
from peft import LoraConfig
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    peft = {adapter}
    rows = load_dataset("trl-lib/Capybara", split="train")
    SFTTrainer(model="Qwen/Qwen2.5-7B", args=SFTConfig("out"), train_dataset=rows, peft_config=peft).train()

main()
"""


@pytest.mark.parametrize(
    ("adapter", "rank", "found"),
    [
        (MADE, 0, {("LL304", "lora.r", "S")}),
        (MADE, 16, set()),
        (f"{MADE} if cfg.lora.r > 0 else None", 0, set()),
    ],
)
def test_a_rank_of_nothing(tmp_path, adapter, rank, found):
    (tmp_path / "train.py").write_text(PROGRAM.format(adapter=adapter))
    script = tmp_path / "run.sh"
    script.write_text(f"accelerate launch train.py lora.r={rank} lora.alpha=64 optim.learning_rate=1e-4\n")
    (run,) = loralint.check(script).runs
    assert {(one.rule, one.key, one.tier) for one in run.findings if one.key.startswith("lora")} == found
