"""H2O LLM Studio: words for nothing, warm-up in epochs, autocast and backbone, and what the checks refuse."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.h2o_llmstudio import READER

FILE = """\
architecture:
  backbone_dtype: bfloat16
  gradient_checkpointing: false
dataset:
  train_dataframe: data/train.csv
  validation_dataframe: "None"
  mask_prompt_labels: true
environment:
  gpus: ["0", "1"]
  mixed_precision: true
  mixed_precision_dtype: float16
  seed: -1
llm_backbone: h2oai/h2o-danube3-500m-base
logging:
  logger: "None"
problem_type: text_causal_language_modeling
tokenizer:
  max_length: 1024
training:
  epochs: 4
  warmup_epochs: 0.5
  gradient_clip: 0.0
  learning_rate: 0.0003
  lora: true
  lora_target_modules: q_proj,v_proj
  optimizer: AdamW8bit
  schedule: Constant
"""


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, FILE)
    expected = {
        "model.dtype": "bf16",
        "quant.bits": 16,
        "adapter.method": "lora",
        "adapter.targets": ["q_proj", "v_proj"],
        "optim.name": "adamw8bit",
        "optim.lr": 3e-4,
        "optim.max_grad_norm": 0.0,
        "schedule.name": "constant_with_warmup",
        "schedule.warmup_ratio": 0.125,
        "train.task": "sft",
        "train.seed": None,
        "train.report_to": [],
        "precision.fp16": True,
        "precision.bf16": False,
        "data.datasets": ["data/train.csv"],
        "data.eval_dataset": None,
        "data.sequence_len": 1024,
        "data.train_on_inputs": False,
        "memory.gradient_checkpointing": False,
        "run.gpu_count": 2,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_what_is_absent_has_the_dataclasses_default(reading):
    config = reading(READER, "llm_backbone: org/m\nproblem_type: text_dpo_modeling\n")
    expected = {
        "quant.bits": 4,
        "quant.compute_dtype": "fp16",
        "model.dtype": "fp16",
        "adapter.rank": 4,
        "adapter.alpha": 16,
        "adapter.targets": "all-linear",
        "optim.lr": 1e-4,
        "optim.max_grad_norm": 10.0,
        "schedule.name": "cosine",
        "schedule.warmup_ratio": 0.0,
        "precision.bf16": True,
        "data.sequence_len": 512,
        "batch.drop_last": True,
        "pref.beta": 0.2,
        "memory.reentrant": False,
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_an_empty_text_means_every_layer(reading):
    config = reading(READER, "training:\n  lora_target_modules: ''\n")
    assert config.get("adapter.targets").value == "all-linear"


@pytest.mark.parametrize(("backbone", "bf16"), [("bfloat16", False), ("float32", True)])
def test_training_in_full_switches_autocast_off_unless_in_fp32(reading, backbone, bf16):
    config = reading(READER, f"architecture:\n  backbone_dtype: {backbone}\ntraining:\n  lora: false\n")
    assert config.get("adapter.method").value == "full"
    assert config.get("precision.bf16").value is bf16


def test_no_epochs_are_an_evaluation(reading):
    config = reading(READER, "training:\n  epochs: 0\n  warmup_epochs: 0.25\n")
    assert config.get("train.enabled").value is False
    assert config.get("schedule.warmup_ratio").value == 0.0


def test_writes_its_own_words(reading):
    config = reading(READER, FILE)
    assert config.write("adapter.targets", "all-linear") == ("training.lora_target_modules", "")
    assert config.write("quant.bits", 4) == ("architecture.backbone_dtype", "int4")
    assert config.write("schedule.name", "cosine") == ("training.schedule", "Cosine")
    assert config.write("optim.name", "adamw") == ("training.optimizer", "AdamW")
    assert config.write("precision.bf16", value=True) == ("environment.mixed_precision_dtype", "bfloat16")
    assert config.write("train.report_to", ["wandb"]) == ("logging.logger", "W&B")
    assert config.write("schedule.warmup_ratio", 0.1) is None


def test_numbers_stay_text(reading, observed):
    found = observed(reading(READER, "training:\n  learning_rate: 3e-4\n"))["training.learning_rate"]
    assert (found.kind, found.effect, found.replacement) == ("coerced", "crash", "0.0003")


@pytest.mark.parametrize(
    ("text", "key", "kind", "effect"),
    [
        ("environment:\n  use_deepspeed: true\n", "environment.use_deepspeed", "rejected", "crash"),
        ("architecture:\n  pretrained: false\n", "architecture.pretrained", "rejected", "crash"),
        ("architecture:\n  backbone_dtype: bf16\n", "architecture.backbone_dtype", "rejected", "crash"),
        ("training:\n  schedule: cosine\n", "training.schedule", "rejected", "crash"),
        ("training:\n  lora_rank: 8\n", "training.lora_rank", "unknown", "lost"),
        ("training:\n  save_best_checkpoint: true\n", "training.save_best_checkpoint", "renamed", "lost"),
    ],
)
def test_observes(reading, observed, text, key, kind, effect):
    found = observed(reading(READER, "llm_backbone: org/m\n" + text))[key]
    assert (found.kind, found.effect) == (kind, effect)


def test_deepspeed_goes_with_a_float_backbone(reading, observed):
    text = "architecture:\n  backbone_dtype: bfloat16\nenvironment:\n  use_deepspeed: true\n  deepspeed_method: ZeRO3\n"
    config = reading(READER, text)
    assert observed(config) == {}
    assert config.get("dist.zero_stage").value == 3
    assert (
        reading(READER, text.replace("use_deepspeed: true", "use_deepspeed: false")).get("dist.zero_stage").value
        is None
    )
