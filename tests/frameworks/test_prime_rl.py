"""prime-rl's TOML: the RL trainer below `trainer`, the SFT trainer at the root."""

from __future__ import annotations

import pytest

from loralint.frameworks.detect import detect
from loralint.model import Unknown
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

RL = """\
max_steps = 20
seq_len = 2048

[model]
name = "Qwen/Qwen3-4B-Instruct-2507"

[trainer.model.lora]
rank = 8
target_modules = ["q_proj", "v_proj"]

[trainer.optim]
lr = 1e-5
weight_decay = 0.0

[trainer.scheduler]
type = "linear"

[orchestrator]
batch_size = 128
"""
SFT = """\
max_steps = 5

[model]
name = "Qwen/Qwen3-0.6B"
optimization_dtype = "bfloat16"

[model.lora]

[data]
name = "PrimeIntellect/Reverse-Text-SFT"
batch_size = 4
seq_len = 1024

[optim]
lr = 1.5e-5
"""


def run(text, name="rl.toml"):
    return assemble(read_bytes(text.encode(), name), Options())


def told(text, *fields):
    return [run(text).config.get(field).value for field in fields]


def test_rl():
    config = run(RL).config
    assert (config.reader.name, config.reader.title) == ("prime-rl", "prime-rl")
    wanted = {
        "model.base": "Qwen/Qwen3-4B-Instruct-2507",
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 32.0,
        "adapter.targets": ["q_proj", "v_proj"],
        "adapter.dtype": "fp32",
        "optim.name": "adamw",
        "optim.lr": 1e-5,
        "schedule.name": "linear",
        "schedule.warmup_steps": 10,
        "train.task": "grpo",
        "data.sequence_len": 2048,
        "train.max_steps": 20,
    }
    assert {field: config.get(field).value for field in wanted} == wanted
    rate = config.get("optim.lr")
    assert (rate.key, rate.span.line) == ("trainer.optim.lr", 12)


def test_sft():
    wanted = ["Qwen/Qwen3-0.6B", "lora", 16, "bf16", 1.5e-5, 4, 1024, "sft", "constant"]
    assert told(
        SFT, "model.base", "adapter.method", "adapter.rank", "adapter.dtype", "optim.lr", "batch.global",
        "data.sequence_len", "train.task", "schedule.name",
    ) == wanted  # fmt: skip
    assert run(SFT).config.get("adapter.alpha").key == "model.lora.alpha"
    assert isinstance(told(SFT, "adapter.targets")[0], Unknown)


def test_where_an_adapter_stood_before():
    older = RL.replace("trainer.model.lora", "trainer.model.experimental.lora")
    assert told(older, "adapter.method", "adapter.rank") == ["lora", 8]
    assert told(RL.replace("trainer.model.lora", "trainer.model.other"), "adapter.method", "adapter.rank") == [
        "full",
        None,
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (RL.replace("[orchestrator]", "[other]"), "rl.toml"),
        (SFT.replace("[optim]", "[optimizer]"), "sft.toml"),
        ("model: {name: a/b, lora: {rank: 8}}\noptim: {lr: 1.0e-4}\ndata: {name: c, seq_len: 1}\n", "sft.yaml"),
    ],
)
def test_files_of_others(text, name):
    found = detect(read_bytes(text.encode(), name))
    assert found is None or found.framework != "prime-rl"
