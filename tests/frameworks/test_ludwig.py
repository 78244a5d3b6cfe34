"""Ludwig: the general trainer's defaults, the short form of an adapter, and files that train nothing."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.ludwig import READER
from loralint.model import Unknown

HEAD = "model_type: llm\nbase_model: org/m\ninput_features: [{name: a, type: text}]\noutput_features: []\n"
FILE = (
    HEAD
    + """\
adapter:
  type: lora
  r: 16
  init_lora_weights: pissa
  target_modules: [q_proj, v_proj]
quantization:
  bits: 4
  bnb_4bit_compute_dtype: bfloat16
trainer:
  type: finetune
  learning_rate: 2e-4
  batch_size: 2
  effective_batch_size: 16
  optimizer:
    type: paged_adam
    betas: [0.8, 0.99]
  learning_rate_scheduler:
    decay: cosine
    warmup_fraction: 0.03
preprocessing:
  global_max_sequence_length: 512
  split:
    type: random
    probabilities: [0.9, 0.1, 0.0]
"""
)


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, FILE)
    expected = {
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.alpha": 32,
        "adapter.init": "pissa",
        "adapter.targets": ["q_proj", "v_proj"],
        "quant.bits": 4,
        "quant.method": "bnb",
        "quant.compute_dtype": "bf16",
        "model.dtype": "bf16",
        "optim.name": "paged_adam",
        "optim.beta1": 0.8,
        "optim.beta2": 0.99,
        "schedule.name": "cosine",
        "schedule.warmup_ratio": 0.03,
        "batch.accumulation": 8,
        "batch.global": 16,
        "train.task": "sft",
        "train.enabled": True,
        "data.sequence_len": 512,
        "data.val_size": 0.1,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_what_is_absent_is_the_general_trainers(reading):
    config = reading(READER, HEAD + "adapter: lora\ntrainer:\n  type: finetune\n")
    expected = {
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 16,
        "adapter.dropout": 0.05,
        "adapter.targets": None,
        "quant.bits": 16,
        "model.dtype": "fp32",
        "optim.name": "adam",
        "optim.lr": 0.001,
        "optim.max_grad_norm": 0.5,
        "schedule.name": "constant",
        "train.epochs": 100,
        "train.early_stopping_patience": 5,
        "batch.micro": 1,
        "batch.accumulation": 1,
        "precision.fp16": False,
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_a_section_alone_quantises(reading):
    assert reading(READER, FILE).get("quant.bits").shadowed == ()
    config = reading(READER, HEAD + "adapter: lora\nquantization:\n  llm_int8_threshold: 6.0\n")
    expected = {"quant.bits": 4, "quant.type": "nf4", "quant.double": True, "quant.compute_dtype": "fp16"}
    assert {field: config.get(field).value for field in expected} == expected


def test_auto_is_not_known_here(reading):
    config = reading(READER, HEAD + "trainer:\n  learning_rate: auto\n  batch_size: auto\n")
    assert isinstance(config.get("optim.lr").value, Unknown)
    assert isinstance(config.get("batch.micro").value, Unknown)


def test_warm_up_makes_a_constant_rate_rise(reading):
    text = HEAD + "trainer:\n  type: finetune\n  learning_rate_scheduler:\n    warmup_fraction: 0.1\n"
    assert reading(READER, text).get("schedule.name").value == "constant_with_warmup"


def test_each_loss_has_a_beta_of_its_own(reading, observed):
    config = reading(READER, HEAD + "trainer:\n  type: kto\n  kto_beta: 0.3\n  dpo_beta: 0.5\n")
    assert (config.get("train.task").value, config.get("pref.beta").value) == ("kto", 0.3)
    config = reading(READER, HEAD + "trainer:\n  type: grpo\n  beta: 0.5\n")
    assert config.get("pref.beta").value == 0.04
    assert observed(config)["trainer.beta"].kind == "ignored"


@pytest.mark.parametrize(
    ("trainer", "adapter", "trains"),
    [
        ("", "adapter: lora\n", False),
        ("trainer:\n  type: none\n", "adapter:\n  type: lora\n", False),
        ("trainer:\n  type: finetune\n", "adapter: lora\n", True),
    ],
)
def test_an_adapter_without_a_trainer_is_told(reading, observed, trainer, adapter, trains):
    config = reading(READER, HEAD + adapter + trainer)
    assert config.get("train.enabled").value is trains
    assert ("adapter" in observed(config)) is not trains


def test_a_trained_adapter_may_only_be_used(reading, observed):
    assert observed(reading(READER, HEAD + "adapter:\n  type: lora\n  pretrained_adapter_weights: org/a\n")) == {}


def test_writes_its_own_words(reading):
    config = reading(READER, FILE)
    assert config.write("adapter.init", "true") == ("adapter.init_lora_weights", "default")
    assert config.write("train.task", "sft") == ("trainer.type", "finetune")
    assert config.write("quant.compute_dtype", "fp32") == ("quantization.bnb_4bit_compute_dtype", "float32")
    assert config.write("schedule.name", "warmup_stable_decay") == ("trainer.learning_rate_scheduler.decay", "wsd")
    assert config.write("adapter.targets", "all-linear") is None


@pytest.mark.parametrize(
    ("text", "key", "kind", "effect"),
    [
        ("adapter:\n  type: lora\n  init_lora_weights: loftq\n", "adapter.init_lora_weights", "rejected", "crash"),
        ("adapter:\n  type: lora\n  lora_alpha: 64\n", "adapter.lora_alpha", "ignored", "changed"),
        ("quantization:\n  mode: float8\n", "quantization.mode", "rejected", "crash"),
        ("quantization:\n  bits: 3\n", "quantization.bits", "rejected", "crash"),
        ("quantization:\n  compute_dtype: bfloat16\n", "quantization.compute_dtype", "ignored", "changed"),
        ("trainer:\n  type: sft\n", "trainer.type", "rejected", "crash"),
        ("trainer:\n  type: finetune\n  learning_rat: 0.1\n", "trainer.learning_rat", "unknown", "lost"),
    ],
)
def test_observes(reading, observed, text, key, kind, effect):
    found = observed(reading(READER, HEAD + text))[key]
    assert (found.kind, found.effect) == (kind, effect)
