"""oumi: the switch beside `peft`, quantisation in two keys, and what OmegaConf and oumi refuse."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.oumi import READER

PINS = {"oumi": "0.9", "trl": "1.5.1", "transformers": "5.16.1"}
FILE = """\
model:
  model_name: org/m
  model_max_length: 4096
  torch_dtype_str: bfloat16
data:
  train:
    datasets:
      - dataset_name: org/a
      - dataset_name: text_sft
        dataset_path: rows.jsonl
    collator_name: text_completions_only_with_padding
training:
  trainer_type: TRL_SFT
  use_peft: true
  learning_rate: 3e-4
  max_grad_norm: null
  save_steps: 0
  save_epoch: true
  enable_gradient_checkpointing: true
peft:
  q_lora: true
  q_lora_bits: 8
  lora_r: 16
  lora_alpha: 32
  lora_target_modules: [all-linear]
  lora_exclude_modules: [".*vision.*", ".*audio.*"]
"""


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, FILE, pins=PINS)
    expected = {
        "model.base": "org/m",
        "model.dtype": "bf16",
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.targets": "all-linear",
        "adapter.exclude": "(.*vision.*)|(.*audio.*)",
        "adapter.dtype": "bf16",
        "quant.bits": 8,
        "quant.method": "bnb",
        "optim.lr": 3e-4,
        "optim.max_grad_norm": 0.0,
        "train.task": "sft",
        "data.datasets": ["org/a", "rows.jsonl"],
        "data.sequence_len": 4096,
        "data.train_on_inputs": False,
        "checkpoint.save_strategy": "epoch",
        "checkpoint.save_steps": None,
        "memory.reentrant": False,
        "precision.bf16": False,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_what_is_absent_has_the_classes_default(reading):
    config = reading(READER, "training:\n  use_peft: true\npeft:\n  q_lora: true\n", pins=PINS)
    expected = {
        "adapter.rank": 8,
        "adapter.alpha": 8,
        "adapter.dropout": 0.0,
        "adapter.dtype": "fp32",  # Transformers' own trainer does not cast
        "quant.bits": 4,
        "quant.type": "fp4",
        "quant.compute_dtype": "fp32",
        "quant.storage_dtype": "uint8",
        "optim.lr": 5e-5,
        "batch.micro": 8,
        "train.epochs": 3,
        "checkpoint.save_strategy": "steps",
        "checkpoint.save_steps": 500,
        "train.report_to": ["tensorboard"],
        "data.sequence_len": None,
        "model.dtype": "auto",
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_peft_without_its_switch_trains_the_whole_model(reading):
    config = reading(READER, FILE.replace("  use_peft: true\n", ""), pins=PINS)
    assert (config.get("adapter.method").value, config.get("adapter.method").origin) == ("full", "default")
    assert config.get("quant.bits").value == 16
    assert config.get("quant.method").value is None


def test_bits_count_with_their_switch_only(reading):
    text = "training:\n  use_peft: true\npeft:\n  q_lora: {}\n  q_lora_bits: 8\n"
    assert reading(READER, text.format("false"), pins=PINS).get("quant.bits").value == 16
    assert reading(READER, text.format("true"), pins=PINS).get("quant.bits").value == 8
    assert reading(READER, text.replace("  q_lora: {}\n", ""), pins=PINS).get("quant.bits").value == 16


def test_writes_its_own_words(reading):
    config = reading(READER, FILE, pins=PINS)
    assert config.write("adapter.method", "lora") == ("training.use_peft", True)
    assert config.write("adapter.targets", "all-linear") == ("peft.lora_target_modules", ["all-linear"])
    assert config.write("quant.bits", 4) == ("peft.q_lora_bits", 4)
    assert config.write("quant.bits", 16) == ("peft.q_lora", False)
    plain = reading(READER, "training:\n  use_peft: true\npeft:\n  lora_r: 8\n", pins=PINS)
    assert plain.write("quant.bits", 4) == ("peft.q_lora", True)
    assert config.write("train.task", "dpo") == ("training.trainer_type", "TRL_DPO")
    assert config.write("precision.bf16", value=True) == ("training.mixed_precision_dtype", "BF16")
    assert config.write("model.dtype", "bf16") == ("model.torch_dtype_str", "bfloat16")
    assert config.write("data.mix_strategy", "interleave_over") == ("data.train.mixture_strategy", "all_exhausted")


@pytest.mark.parametrize(
    ("text", "key", "kind", "replacement"),
    [
        ("peft:\n  lora_rank: 8\n", "peft.lora_rank", "unknown", ""),
        ("data:\n  train:\n    datasets:\n      - dataset: org/a\n", "data.train.datasets[0].dataset", "unknown", ""),
        ("training:\n  trainer_type: trl_sft\n", "training.trainer_type", "rejected", "TRL_SFT"),
        ("training:\n  num_train_epochs: 1.5\n", "training.num_train_epochs", "rejected", ""),
        ("training:\n  num_train_epochs: 1.0\n", "training.num_train_epochs", "rejected", ""),
        ("peft:\n  lora_target_modules: all-linear\n", "peft.lora_target_modules", "rejected", ""),
        ("training:\n  mixed_precision_dtype: BF16\n", "training.mixed_precision_dtype", "rejected", ""),
        ("training:\n  compile: true\nfsdp:\n  use_orig_params: false\n", "fsdp.use_orig_params", "rejected", ""),
        ("training:\n  seed: 1\n  seed: 2\n", "training.seed", "duplicate", ""),
    ],
)
def test_stops_at_start(reading, observed, text, key, kind, replacement):
    found = observed(reading(READER, "model:\n  model_name: org/m\n" + text, pins=PINS))[key]
    assert (found.kind, found.effect, found.replacement) == (kind, "crash", replacement)


@pytest.mark.parametrize(("storage", "refused"), [("bfloat16", False), ("uint8", True), ("", True)])
def test_fsdp_wants_the_packed_weights_in_the_models_dtype(reading, observed, storage, refused):
    line = f"  bnb_4bit_quant_storage: {storage}\n" if storage else ""
    text = FILE.replace("  q_lora_bits: 8\n", line) + "fsdp:\n  enable_fsdp: true\n"
    found = observed(reading(READER, text, pins=PINS))
    assert bool(found) is refused


def test_mixed_precision_over_fp32_weights_is_fine(reading, observed):
    text = "model:\n  torch_dtype_str: float32\ntraining:\n  mixed_precision_dtype: BF16\n"
    config = reading(READER, text, pins=PINS)
    assert observed(config) == {}
    assert config.get("precision.bf16").value is True


def test_zero_stage_counts_with_deepspeed_only(reading):
    text = "deepspeed:\n  enable_deepspeed: {}\n  zero_stage: ZERO_3\n"
    assert reading(READER, text.format("true"), pins=PINS).get("dist.zero_stage").value == 3
    assert reading(READER, text.format("false"), pins=PINS).get("dist.zero_stage").value is None
