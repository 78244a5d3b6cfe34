"""Megatron-Bridge: overrides of a recipe, so that nothing absent has a value here."""

from __future__ import annotations

from loralint.frameworks.readers.megatron_bridge import READER
from loralint.model import Unknown

FILE = """\
train: {train_iters: 100, global_batch_size: 128, micro_batch_size: 2, eval_interval: 50}
optimizer: {lr: 0.0001, min_lr: 1e-5, weight_decay: 0.0}
scheduler: {lr_warmup_iters: 10, lr_decay_style: WSD}
checkpoint: {save: out, save_interval: 50}
peft: {dim: 8, alpha: 16, target_modules: [linear_qkv, "*.linear_fc1"]}
model: {seq_length: 4096, tensor_model_parallel_size: 2}
rng: {seed: 1234}
"""


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, FILE)
    expected = {
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 16,
        "adapter.targets": ["linear_qkv", "linear_fc1"],
        "optim.lr": 1e-4,
        "optim.weight_decay": 0.0,
        "schedule.name": "warmup_stable_decay",
        "schedule.warmup_steps": 10,
        "schedule.min_lr": 1e-5,
        "batch.micro": 2,
        "batch.global": 128,
        "train.max_steps": 100,
        "train.seed": 1234,
        "data.sequence_len": 4096,
        "checkpoint.save_steps": 50,
        "dist.tensor_parallel": 2,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_what_the_recipe_says_is_unknown(reading):
    value = reading(READER, "train: {train_iters: 9}\n").get("adapter.dropout").value
    assert value == Unknown("`peft.dropout` is not in this file: the recipe that the file overrides sets it")


def test_the_modules_may_be_excluded_or_all(reading):
    assert reading(READER, "peft: {target_modules: []}\n").get("adapter.targets").value == "all-linear"
    config = reading(READER, "peft: {exclude_modules: ['*router*']}\n")
    assert (config.get("adapter.targets").value, config.get("adapter.exclude").value) == ("all-linear", ".*router.*")


def test_tells_slips_only(reading, observed):
    found = observed(reading(READER, "peft: {dims: 8, my_own: 1}\nelse_where: {}\n"))
    assert {key: one.replacement for key, one in found.items()} == {"peft.dims": "dim"}


def test_writes_back(reading):
    config = reading(READER, FILE)
    assert config.write("adapter.rank", 16) == ("peft.dim", 16)
    assert config.write("train.max_steps", 9) == ("train.train_iters", 9)
    assert config.write("adapter.targets", "a|b") is None
