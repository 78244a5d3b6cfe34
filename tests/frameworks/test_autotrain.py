"""AutoTrain: the switches `peft` and `task`, what they leave out, and where the parser stops."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.autotrain import READER
from loralint.model import Unknown

FILE = """\
task: {task}
base_model: HuggingFaceTB/SmolLM2-135M
project_name: my-run
log: tensorboard
backend: local
data:
  path: org/d
  train_split: train
  valid_split: null
  chat_template: tokenizer
  column_mapping:
    text_column: text
params:
{params}
hub:
  username: u
  token: ${{HF_TOKEN}}
  push_to_hub: true
"""


def text(params: str = "  seed: 1", task: str = "llm-sft") -> str:
    return FILE.format(params=params, task=task)


def test_reads_what_the_file_says(reading, observed):
    params = (
        "  peft: true\n  quantization: int8\n  target_modules: q_proj,v_proj\n  lr: 2e-4\n  mixed_precision: bf16\n"
    )
    config = reading(READER, text(params + "  block_size: 512\n  disable_gradient_checkpointing: true"))
    expected = {
        "model.base": "HuggingFaceTB/SmolLM2-135M",
        "adapter.method": "lora",
        "adapter.targets": ["q_proj", "v_proj"],
        "quant.bits": 8,
        "quant.method": "bnb",
        "optim.lr": 2e-4,
        "precision.bf16": True,
        "precision.fp16": False,
        "data.sequence_len": 512,
        "data.template": "tokenizer",
        "data.packing": True,
        "data.datasets": ["org/d"],
        "memory.gradient_checkpointing": False,
        "train.task": "sft",
        "train.report_to": ["tensorboard"],
        "checkpoint.output_dir": "my-run",
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_peft_is_off_and_switches_quantisation_off(reading, observed):
    config = reading(READER, text("  lora_r: 8\n  quantization: int4"))
    assert (config.get("adapter.method").value, config.get("adapter.method").origin) == ("full", "default")
    assert config.get("quant.bits").value == 16
    found = observed(config)["params.quantization"]
    assert (found.kind, found.effect) == ("ignored", "lost")


def test_peft_quantises_to_4_bits_unless_told_otherwise(reading):
    config = reading(READER, text("  peft: true"))
    expected = {
        "quant.bits": 4,
        "quant.type": "nf4",
        "quant.double": False,
        "quant.compute_dtype": "fp16",
        "adapter.rank": 16,
        "adapter.alpha": 32,
        "adapter.targets": "all-linear",
        "adapter.dtype": "fp32",
        "memory.reentrant": True,
        "optim.lr": 3e-5,
        "schedule.warmup_ratio": 0.1,
        "batch.accumulation": 4,
        "data.sequence_len": 1024,
        "eval.strategy": "no",
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert reading(READER, text("  peft: true\n  quantization: null")).get("quant.bits").value == 16


@pytest.mark.parametrize(
    ("task", "params", "expected"),
    [
        ("llm", "", "pt"),
        ("llm-generic", "", "pt"),
        ("llm-orpo", "", "orpo"),
        ("llm-reward", "", "rm"),
        ("llm-sft", "  trainer: dpo", "dpo"),
        ("text-classification", "", "cls"),
    ],
)
def test_the_task(reading, task, params, expected):
    config = reading(READER, text(params or "  seed: 1", task))
    assert config.get("train.task").value == expected


def test_an_unknown_task_of_the_language_models_is_unknown(reading):
    assert isinstance(reading(READER, text(task="llm-ppo")).get("train.task").value, Unknown)


def test_other_tasks_have_defaults_that_are_not_known_here(reading):
    config = reading(READER, text(task="image_classification"))
    assert [config.get(field).value for field in ("optim.lr", "batch.micro", "quant.bits")] == [None, None, None]


@pytest.mark.parametrize(
    ("params", "length"),
    [
        ("  block_size: -1", 1024),
        ("  block_size: 4096", 2048),
        ("  block_size: 4096\n  model_max_length: 8192", 4096),
        ("  model_max_length: 512", 512),
    ],
)
def test_a_block_is_cut_to_the_models_limit(reading, params, length):
    assert reading(READER, text(params)).get("data.sequence_len").value == length


def test_evaluation_needs_a_split(reading):
    config = reading(READER, text("  eval_strategy: steps"))
    assert config.get("eval.strategy").value == "no"
    assert config.get("checkpoint.load_best").value is False


def test_a_validation_split_is_lost_by_the_language_model_trainers(reading, observed):
    split = text().replace("valid_split: null", "valid_split: test")
    found = observed(reading(READER, split))["data.valid_split"]
    assert (found.kind, found.effect, found.replacement) == ("rejected", "crash", "null")
    assert observed(reading(READER, split.replace("llm-sft", "text-classification"))) == {}


def test_writes_its_own_words(reading):
    config = reading(READER, text())
    assert config.write("adapter.method", "lora") == ("params.peft", True)
    assert config.write("adapter.targets", ["q_proj", "k_proj"]) == ("params.target_modules", "q_proj,k_proj")
    assert config.write("quant.bits", 16) == ("params.quantization", None)
    assert config.write("quant.bits", 4) == ("params.quantization", "int4")
    assert config.write("precision.bf16", value=True) == ("params.mixed_precision", "bf16")
    assert config.write("optim.lr", 1e-4) == ("params.lr", 1e-4)
    assert config.write("train.report_to", []) == ("log", "none")


@pytest.mark.parametrize(
    ("params", "key", "kind", "effect", "replacement"),
    [
        ("  use_peft: true", "params.use_peft", "renamed", "lost", "peft"),
        ("  lora_rr: 8", "params.lora_rr", "unknown", "lost", "lora_r"),
        ("  mixed_precision: no", "params.mixed_precision", "rejected", "crash", "null"),
        ("  target_modules: [q_proj]", "params.target_modules", "rejected", "crash", ""),
        ("  target_modules: q_proj, v_proj", "params.target_modules", "coerced", "changed", "q_proj,v_proj"),
        ("  epochs: 1.5", "params.epochs", "rejected", "crash", ""),
        ("  quantization: 4bit", "params.quantization", "rejected", "lost", "int4"),
    ],
)
def test_observes(reading, observed, params, key, kind, effect, replacement):
    found = observed(reading(READER, text(params)))[key]
    assert (found.kind, found.effect, found.replacement) == (kind, effect, replacement)


@pytest.mark.parametrize(("name", "refused"), [("my_run", True), ("a" * 51, True), ("my-run-2", False)])
def test_project_names(reading, observed, name, refused):
    found = observed(reading(READER, text().replace("my-run", name)))
    assert ("project_name" in found) is refused


def test_sections_need_all_their_keys(reading, observed):
    found = observed(reading(READER, text().replace("  chat_template: tokenizer\n", "")))
    assert "`data.chat_template`" in found["data"].message
    found = observed(reading(READER, text(task="token-classification").replace("  chat_template: tokenizer\n", "")))
    assert found == {}
