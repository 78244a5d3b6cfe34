"""Unsloth Studio: the command's file, what its schema refuses by release, and the defaults of the web interface."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.unsloth_studio import PROJECTIONS, READER
from loralint.frameworks.readers.unsloth_studio_defaults import READER as DEFAULTS

FILE = """\
model: unsloth/Qwen2.5-0.5B
data:
  dataset: tatsu-lab/alpaca
  format_type: auto
training:
  training_type: LoRA
  load_in_4bit: false
  learning_rate: 2e-4
  max_steps: 30
  save_steps: 0
  train_on_completions: true
  gradient_checkpointing: none
lora:
  lora_r: 32
  target_modules: "q_proj, v_proj"
logging:
  enable_wandb: true
"""


def test_reads_what_the_file_says(reading):
    config = reading(READER, FILE)
    expected = {
        "model.base": "unsloth/Qwen2.5-0.5B",
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.targets": ["q_proj", "v_proj"],
        "quant.bits": 16,
        "optim.lr": 2e-4,
        "train.max_steps": 30,
        "checkpoint.save_strategy": "no",
        "data.train_on_inputs": False,
        "memory.gradient_checkpointing": False,
        "train.report_to": ["wandb"],
        "data.datasets": ["tatsu-lab/alpaca"],
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert [item.text for item in config.get("adapter.targets").items] == ["q_proj", "v_proj"]


def test_what_is_absent_has_the_schemas_default(reading):
    config = reading(READER, "model: org/m\n")
    expected = {
        "adapter.method": "lora",
        "adapter.rank": 64,
        "adapter.alpha": 16,
        "adapter.targets": PROJECTIONS,
        "quant.bits": 4,
        "quant.type": "nf4",
        "optim.name": "adamw_8bit",
        "optim.weight_decay": 0.01,
        "schedule.warmup_steps": 5,
        "batch.micro": 2,
        "batch.accumulation": 4,
        "train.epochs": 3,
        "train.seed": 3407,
        "precision.bf16": "auto",
        "memory.gradient_checkpointing": True,
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_a_full_fine_tune_is_not_quantised(reading):
    config = reading(READER, "training:\n  training_type: full\n  load_in_4bit: true\n")
    assert config.get("quant.bits").value == 16
    assert config.get("adapter.targets").value is None


@pytest.mark.parametrize(
    ("lora", "expected"),
    [
        ("target_modules: ''\n  vision_all_linear: true", "all-linear"),
        ("target_modules: ''", PROJECTIONS),
        ("target_modules: all-linear", "all-linear"),
        ("target_modules: all-linear,q_proj", ["q_proj"]),
    ],
)
def test_targets(reading, lora, expected):
    assert reading(READER, f"lora:\n  {lora}\n").get("adapter.targets").value == expected


def test_writes_what_the_schema_takes(reading):
    config = reading(READER, FILE)
    assert config.write("adapter.targets", ["q_proj", "o_proj"]) == ("lora.target_modules", "q_proj,o_proj")
    assert config.write("quant.bits", 4) == ("training.load_in_4bit", True)
    assert config.write("memory.gradient_checkpointing", True) == ("training.gradient_checkpointing", "unsloth")
    assert config.write("adapter.method", "full") == ("training.training_type", "full")
    assert config.write("optim.name", "lion") is None


@pytest.mark.parametrize(("release", "effect"), [("2026.9.2", "lost"), ("2026.9.3", "crash"), ("2026.10.9", "crash")])
def test_an_unknown_key_stops_the_command_since_2026_9_3(reading, observed, release, effect):
    config = reading(READER, "lora:\n  lora_rank: 8\n", pins={"unsloth-studio": release})
    found = observed(config)["lora.lora_rank"]
    assert (found.kind, found.effect, found.package) == ("unknown", effect, "unsloth-studio")


@pytest.mark.parametrize(
    ("release", "written", "refused"),
    [
        ("2026.9.12", "true", True),
        ("2026.9.13", "true", False),
        ("2026.9.12", '"true"', False),
        ("2026.10.9", "unsloth", False),
        ("2026.10.9", "sometimes", True),
    ],
)
def test_gradient_checkpointing_takes_words(reading, observed, release, written, refused):
    text = f"training:\n  gradient_checkpointing: {written}\n"
    found = observed(reading(READER, text, pins={"unsloth-studio": release}))
    assert ("training.gradient_checkpointing" in found) is refused


def test_a_list_of_targets_is_refused_by_the_command_only(reading, observed):
    text = "training:\n  random_seed: 1\nlora:\n  target_modules: [q_proj]\n"
    found = observed(reading(READER, text))["lora.target_modules"]
    assert (found.kind, found.effect) == ("rejected", "crash")
    config = reading(DEFAULTS, text)
    assert observed(config) == {}
    assert config.get("adapter.targets").value == ["q_proj"]


def test_the_interfaces_defaults_have_keys_of_their_own(reading, observed):
    text = "audio_type: csm\ntraining:\n  warmup_ratio: 0.1\n  optim: paged_adamw_8bit\nlogging:\n  log_frequency: 10\n"
    config = reading(DEFAULTS, text)
    assert observed(config) == {}
    assert config.get("schedule.warmup_ratio").value == 0.1
    assert config.get("schedule.warmup_steps").value is None
    assert config.get("optim.name").value == "paged_adamw_8bit"
    assert set(observed(reading(READER, text))) == {"audio_type", "training.warmup_ratio", "training.optim",
                                                    "logging.log_frequency"}  # fmt: skip


def test_loftq_over_a_4_bit_base_is_skipped(reading, observed):
    assert observed(reading(READER, "lora:\n  use_loftq: true\n"))["lora.use_loftq"].kind == "ignored"
    assert observed(reading(READER, "training:\n  load_in_4bit: false\nlora:\n  use_loftq: true\n")) == {}
