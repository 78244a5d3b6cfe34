from __future__ import annotations

import pytest

from loralint.frameworks.detect import by_name, detect
from loralint.frameworks.readers.ms_swift_megatron import READER
from loralint.knowledge.data import part
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

WHOLE = """\
model: Qwen/Qwen2.5-7B-Instruct
dataset: [org/a#500, org/b#500]
tuner_type: lora
lora_rank: 16
lora_alpha: 32
target_modules: [q_proj, v_proj]
tensor_model_parallel_size: 2
micro_batch_size: 4
global_batch_size: 16
recompute_granularity: full
lr: 2e-4
lr_warmup_fraction: 0.05
min_lr: 1e-5
lr_decay_style: WSD
num_train_epochs: 2
output_dir: out
save_steps: 100
max_length: 2048
packing: true
no_save_optim: true
"""
THIRD = """\
model: Qwen/Qwen2.5-7B-Instruct
dataset: org/a
train_type: lora
micro_batch_size: 1
global_batch_size: 8
recompute_granularity: none
lr: 1e-4
max_epochs: 3
save: out
save_interval: 50
"""


@pytest.fixture
def megatron():
    """Give the run of a text as `loralint check` assembles it."""

    def load(text: str, version: str = ""):
        targets = {"ms-swift": version} if version else {}
        found = assemble(read_bytes(text.encode(), "c.yaml"), Options(targets=targets))
        assert found is not None
        assert found.config.reader is READER
        return found.config

    return load


def test_recognises_by_the_arguments_of_megatron():
    document = read_bytes(WHOLE.encode(), "c.yaml")
    found = detect(document)
    assert found is not None
    assert (found.framework, found.module) == ("ms-swift", "ms_swift_megatron")
    assert by_name("ms-swift", document) == "ms_swift_megatron"


def test_reads_a_whole_file(megatron):
    config = megatron(WHOLE)
    expected = {
        "model.base": "Qwen/Qwen2.5-7B-Instruct", "adapter.method": "lora", "adapter.rank": 16, "adapter.alpha": 32,
        "adapter.dropout": 0.05, "adapter.targets": ["q_proj", "v_proj"], "optim.name": "adamw", "optim.lr": 2e-4,
        "optim.beta2": 0.95, "optim.weight_decay": 0.1, "optim.max_grad_norm": 1.0, "batch.micro": 4,
        "schedule.name": "warmup_stable_decay", "schedule.warmup_ratio": 0.05, "schedule.min_lr": 1e-5,
        "batch.global": 16, "train.epochs": 2, "run.rows": 1000, "dist.tensor_parallel": 2,
        "memory.gradient_checkpointing": True, "checkpoint.output_dir": "out", "checkpoint.save_steps": 100,
        "eval.steps": 100, "data.sequence_len": 2048, "data.packing": True, "precision.bf16": True,
    }  # fmt: skip
    assert {field: config.get(field).value for field in expected} == expected
    assert config.layers[0].observations == ()  # packing needs no `attn_impl` here


def test_without_a_tuner_the_whole_model_trains(megatron):
    config = megatron(WHOLE.replace("tuner_type: lora\n", "split_dataset_ratio: 0.1\n").replace("lr: 2e-4\n", ""))
    assert config.get("adapter.method").value == "full"
    assert config.get("optim.lr").value == 1e-5


def test_the_third_generation(megatron):
    config = megatron(THIRD)
    expected = {
        "adapter.method": "lora", "train.epochs": 3, "checkpoint.output_dir": "out", "checkpoint.save_steps": 50,
        "memory.gradient_checkpointing": False,
    }  # fmt: skip
    assert {field: config.get(field).value for field in expected} == expected
    assert config.layers[0].observations == ()
    assert config.write("train.epochs", 2) == ("max_epochs", 2)
    now = megatron(THIRD, "4.6.0")
    assert {one.value.key: one.replacement for one in now.layers[0].observations} == {
        "train_type": "tuner_type",
        "max_epochs": "num_train_epochs",
        "save": "output_dir",
        "save_interval": "save_steps",
    }


@pytest.mark.parametrize(
    ("field", "value", "key", "out"),
    [
        ("optim.lr", 1e-4, "lr", 1e-4),
        ("optim.name", "adamw", "optimizer", "adam"),
        ("batch.global", 32, "global_batch_size", 32),
        ("schedule.warmup_ratio", 0.1, "lr_warmup_fraction", 0.1),
        ("memory.gradient_checkpointing", False, "recompute_granularity", "none"),
        ("checkpoint.save_steps", 200, "save_steps", 200),
        ("adapter.targets", "all-linear", "target_modules", "all-linear"),
    ],
)
def test_writes_what_it_reads(megatron, field, value, key, out):
    assert megatron(WHOLE).write(field, value) == (key, out)
    kept = "".join(f"{line}\n" for line in WHOLE.splitlines() if not line.startswith(f"{key}:"))
    assert megatron(f"{kept}{key}: {out}\n").get(field).value == value


@pytest.mark.parametrize(
    ("text", "observed"),
    [
        ("learning_rate: 1e-4\n", ("unknown", "learning_rate", "crash")),
        ("global_batch_size: 16.0\n", ("rejected", "global_batch_size", "crash")),
        ("expert_model_paralel_size: 2\n", ("unknown", "expert_model_paralel_size", "crash")),
    ],
)
def test_observes(megatron, text, observed):
    kept = "".join(f"{line}\n" for line in WHOLE.splitlines() if line.partition(":")[0] != text.partition(":")[0])
    (one,) = megatron(kept + text).layers[0].observations
    assert (one.kind, one.value.key, one.effect) == observed


def test_every_key_of_the_table_is_known():
    lists = part("keys-ms-swift-megatron")
    for row in READER.table:
        assert not row.key or row.key in lists["keys"][""] or row.key in lists["moved"], row.key
