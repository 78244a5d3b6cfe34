"""OpenRLHF: flags in a file, dotted or nested; a rank of 0 is the default."""

from __future__ import annotations

import pytest

from loralint.api import check
from loralint.frameworks.readers.openrlhf import READER
from loralint.model import Unknown

NESTED = """\
model: {model_name_or_path: org/m, gradient_checkpointing_enable: true}
ds: {param_dtype: bf16, zero_stage: 3, load_in_4bit: true, lora: {rank: 16, alpha: 32}}
adam: {lr: 1e-4, betas: [0.9, 0.98]}
train: {batch_size: 64, micro_batch_size: 2, max_epochs: 1}
data: {dataset: "org/a, org/b", max_len: 4096}
ckpt: {output_dir: out, save_steps: 100}
eval: {steps: -1}
"""


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, NESTED)
    expected = {
        "model.base": "org/m",
        "model.dtype": "bf16",
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.alpha": 32,
        "adapter.dropout": 0.0,
        "adapter.targets": "all-linear",
        "quant.bits": 4,
        "optim.name": "adam",
        "optim.lr": 1e-4,
        "optim.beta2": 0.98,
        "optim.max_grad_norm": 1.0,
        "schedule.name": "cosine",
        "schedule.warmup_ratio": 0.03,
        "schedule.min_lr_ratio": 0.1,
        "batch.micro": 2,
        "batch.global": 64,
        "train.epochs": 1,
        "precision.bf16": True,
        "data.datasets": ["org/a", "org/b"],
        "data.sequence_len": 4096,
        "eval.strategy": "no",
        "checkpoint.save_strategy": "steps",
        "checkpoint.save_steps": 100,
        "dist.zero_stage": 3,
        "memory.gradient_checkpointing": True,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert isinstance(config.get("train.task").value, Unknown)
    assert observed(config) == {}


def test_reads_dotted_flags(reading, observed):
    config = reading(READER, '{"ds.lora.rank": 8, "ds.zero_stage": 2, "adam.lr": "2e-5"}', name="flags.json")
    assert (config.get("adapter.rank").value, config.get("optim.lr").value) == (8, 2e-5)
    assert config.get("adapter.rank").key == "ds.lora.rank"
    assert observed(config) == {}


@pytest.mark.parametrize(
    "text", ["ds: {lora: {rank: 0, alpha: 16, target_modules: all-linear}}\n", "adam: {lr: 5e-6}\n"]
)
def test_without_a_rank_everything_trains(reading, text):
    config = reading(READER, text)
    assert config.get("adapter.method").value == "full"
    for field in ("adapter.rank", "adapter.alpha", "adapter.targets"):
        assert config.get(field).value is None, field


@pytest.mark.parametrize(("estimator", "task"), [("gae", "ppo"), ("group_norm", "grpo"), ("rloo", "rloo")])
def test_tells_the_task_by_the_estimator(reading, estimator, task):
    assert reading(READER, f"algo: {{advantage: {{estimator: {estimator}}}}}\n").get("train.task").value == task


def test_tells_slips_only(reading, observed):
    found = observed(reading(READER, "ds: {zero_stages: 2, of_my_own: 1}\ncluster: {}\n"))
    assert {key: (one.effect, one.replacement) for key, one in found.items()} == {
        "ds.zero_stages": ("crash", "zero_stage")
    }


def test_writes_back(reading):
    config = reading(READER, NESTED)
    assert config.write("adapter.rank", 8) == ("ds.lora.rank", 8)
    assert config.write("adapter.method", "full") == ("ds.lora.rank", 0)
    assert config.write("schedule.name", "cosine") == ("lr_scheduler", "cosine_with_min_lr")
    assert config.write("quant.bits", 8) is None


@pytest.mark.parametrize(
    ("line", "key", "to", "rewrite"),
    [
        ("lora_rank: 16", "lora_rank", "ds.lora.rank", "key"),
        ("train_batch_size: 64", "train_batch_size", "train.batch_size", "key"),
        ("pretrain: org/m", "pretrain", "model.model_name_or_path, in PPO actor.model_name_or_path", ""),
    ],
)
def test_names_that_flags_had_before_they_were_grouped(reading, observed, line, key, to, rewrite):
    found = observed(reading(READER, f"{line}\n", pins={"openrlhf": "0.10.2"}))[key]
    assert (found.kind, found.effect, found.replacement, found.rewrite) == ("renamed", "crash", to, rewrite)
    assert key not in observed(reading(READER, f"{line}\n", pins={"openrlhf": "0.9.9"}))


@pytest.mark.parametrize(
    ("flags", "key"),
    [
        ("--algo.advantage.estimator rloo", "algo.advantage.estimator"),
        ("--algo.advantage.estimator rloo --rollout.n_samples_per_prompt 8", None),
        ("--algo.advantage.estimator gae", None),
        ("--algo.dynamic_filtering_enable --rollout.n_samples_per_prompt 1", "algo.dynamic_filtering_enable"),
        ("--ds.packing_samples --vllm.num_engines 0", "ds.packing_samples"),
        ("--ds.packing_samples --vllm.num_engines 2", None),
    ],
)
def test_what_the_ppo_trainer_refuses(tmp_path, flags, key):
    command = "python3 -m openrlhf.cli.train_ppo_ray --actor.model_name_or_path org/m --ds.lora.rank 8"
    (tmp_path / "run.sh").write_text(f"{command} {flags}\n")
    [run] = check(tmp_path / "run.sh").runs
    assert [one.key for one in run.findings if one.rule == "LL108"] == ([key] if key else [])
