"""Runs whose config Hydra composes of several files."""

from __future__ import annotations

import pytest

import loralint

TRAINER = """\
defaults:
  - actor@actor_rollout_ref.actor: dp
  - model@actor_rollout_ref.model: qwen
  - _self_
data: {train_batch_size: 256, max_prompt_length: 512, max_response_length: 512}
algorithm: {adv_estimator: grpo}
actor_rollout_ref: {actor: {ppo_mini_batch_size: 64}}
trainer: {total_epochs: 2, n_gpus_per_node: 8, nnodes: 1}
"""
FILES = {
    "conf/trainer.yaml": TRAINER,
    "conf/actor/dp.yaml": "ppo_mini_batch_size: 32\nppo_micro_batch_size_per_gpu: 4\n\noptim:\n  lr: 0.3\n",
    "conf/model/qwen.yaml": "path: Qwen/Qwen2.5-0.5B\nlora_rank: 16\nlora_alpha: 32\ntarget_modules: all-linear\n",
}
SCRIPT = """\
import hydra
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    lora = LoraConfig(r=cfg.model.lora.r, task_type="CAUSAL_LM")
    args = SFTConfig(output_dir="out", learning_rate=cfg.train.lr)
    SFTTrainer(model=cfg.model.name, args=args, peft_config=lora).train()
if __name__ == "__main__":
    main()
"""
OWN = {
    "train.py": SCRIPT,
    "conf/config.yaml": "defaults: [model: qwen, train: fast, _self_]\ntrain: {lr: 1e-3}\n",
    "conf/model/qwen.yaml": "name: Qwen/Qwen2.5-7B\nlora:\n  r: 16\n",
    "conf/train/fast.yaml": "lr: 1e-4\nepochs: 3\n",
}


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """checked(files, path) -> the runs, with their settings."""
    monkeypatch.chdir(tmp_path)

    def build(files, path="."):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return loralint.check(path, show_settings=True).runs

    return build


def test_a_config_is_judged_with_its_groups_which_are_no_runs(checked):
    (run,) = checked(FILES)
    assert run.files == ("conf/trainer.yaml", "conf/actor/dp.yaml", "conf/model/qwen.yaml")
    rate = [one for one in run.findings if one.key == "actor_rollout_ref.actor.optim.lr"]
    assert {(one.span.file, one.span.line) for one in rate} == {("conf/actor/dp.yaml", 5)}
    assert all(one.fix is None for one in rate)
    assert not [note for note in run.notes if "defaults" in note.message]


def test_what_is_not_at_hand_is_said(checked):
    files = {name: text for name, text in FILES.items() if "qwen" not in name}
    (run,) = checked(files)
    assert run.findings == ()
    assert [note for note in run.notes if "inherited `defaults`" in note.message]


@pytest.mark.parametrize("group", ["conf/actor/dp.yaml", "conf/model/qwen.yaml"])
def test_a_group_by_itself_is_not_called_broken(checked, group):
    assert [one for run in checked(FILES, group) for one in run.findings if one.tier == "S"] == []


def test_a_program_gets_the_whole(checked):
    (run,) = checked(OWN)
    assert run.files == ("train.py", "conf/config.yaml", "conf/model/qwen.yaml", "conf/train/fast.yaml")
    told = {
        one.parameter: (one.value.value, one.value.span.file, one.value.span.line)
        for one in run.settings
        if one.value.span is not None
    }
    assert told["model.base"] == ("Qwen/Qwen2.5-7B", "conf/model/qwen.yaml", 1)
    assert told["adapter.rank"] == (16, "conf/model/qwen.yaml", 3)
    assert told["optim.lr"] == (1e-3, "conf/config.yaml", 2)
