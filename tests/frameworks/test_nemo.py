"""NeMo: three generations of adapters, Lightning's precision, schemes that are listed and not chosen."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.nemo import READER
from loralint.model import Unknown

FILE = """\
trainer: {devices: 1, precision: 16, max_epochs: -1, max_steps: 20000, val_check_interval: 200, gradient_clip_val: 1.0}
exp_manager: {explicit_log_dir: out}
model:
  seed: 1234
  global_batch_size: 128
  micro_batch_size: 4
  restore_from_path: ???
  answer_only_loss: true
  tensor_model_parallel_size: 2
  peft:
    peft_scheme: %s
    adapter_tuning: {adapter_dim: 32}
    lora_tuning:
      target_modules: [attention, mlp_fc1]
      adapter_dim: 32
      alpha: ${model.peft.lora_tuning.adapter_dim}
      adapter_dropout: 0.1
  data:
    train_ds:
      file_names: ???
      max_seq_length: 2048
      micro_batch_size: ${model.micro_batch_size}
  optim:
    name: fused_adam
    lr: 1e-4
    betas: [0.9, 0.98]
    sched: {name: CosineAnnealing, warmup_steps: 50, min_lr: 0.0}
"""


def test_reads_the_scheme_that_is_chosen(reading, observed):
    config = reading(READER, FILE % "lora")
    expected = {
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.alpha": 32,
        "adapter.dropout": 0.1,
        "adapter.targets": ["attention_qkv", "attention_dense", "mlp_fc1"],
        "optim.name": "fused_adam",
        "optim.lr": 1e-4,
        "optim.beta2": 0.98,
        "optim.max_grad_norm": 1.0,
        "schedule.name": "cosine",
        "schedule.warmup_steps": 50,
        "schedule.min_lr": 0.0,
        "batch.micro": 4,
        "batch.global": 128,
        "train.max_steps": 20000,
        "train.epochs": None,
        "train.enabled": True,
        "precision.fp16": True,
        "precision.bf16": False,
        "data.sequence_len": 2048,
        "data.train_on_inputs": False,
        "eval.steps": 200,
        "dist.tensor_parallel": 2,
        "checkpoint.output_dir": "out",
    }
    assert {field: config.get(field).value for field in expected} == expected
    for field in ("model.base", "data.datasets"):
        assert config.get(field).value == Unknown("`???` is filled in on the command line")
    assert observed(config) == {}


@pytest.mark.parametrize(
    ("scheme", "method"), [("adapter", "adapter"), ("ptuning", "p_tuning"), ("null", "full"), ("ia3", "ia3")]
)
def test_a_scheme_that_is_not_chosen_says_nothing(reading, scheme, method):
    config = reading(READER, FILE % scheme)
    assert config.get("adapter.method").value == method
    for field in ("adapter.rank", "adapter.dropout", "adapter.targets"):
        assert config.get(field).origin == "absent", field


def test_several_schemes_are_no_single_method(reading):
    assert isinstance(reading(READER, FILE % "'lora,ptuning'").get("adapter.method").value, Unknown)


def test_the_alpha_of_nemo_1_is_the_rank(reading):
    text = (
        "exp_manager: {}\nmodel: {peft: {peft_scheme: lora, lora_tuning: {adapter_dim: 64, target_modules: [all]}}}\n"
    )
    config = reading(READER, text)
    assert config.get("adapter.alpha").value == 64
    assert config.get("adapter.targets").value == "all-linear"


def test_reads_the_class_of_nemo_2(reading):
    text = (
        "model:\n  freeze_language_model: true\n  llm: {pretrained_model: org/m}\n"
        "  peft: {_target_: nemo.collections.llm.peft.LoRA, dim: 16}\n"
        "optim:\n  config: {optimizer: adam, lr: 1e-4}\n"
        "  lr_scheduler: {_target_: a.b.CosineAnnealingScheduler, warmup_steps: 9}\n"
        "plugins: {precision: bf16-mixed}\ndata: {common: {micro_batch_size: 2, max_seq_length: 4096}}\n"
    )
    config = reading(READER, text)
    expected = {
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.alpha": 32,
        "adapter.dropout": 0.0,
        "adapter.targets": ["linear_qkv", "linear_proj", "linear_fc1", "linear_fc2"],
        "model.base": "org/m",
        "optim.lr": 1e-4,
        "schedule.name": "cosine",
        "schedule.warmup_steps": 9,
        "precision.bf16": True,
        "batch.micro": 2,
        "data.sequence_len": 4096,
        "model.freeze_language": True,
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_reads_the_arguments_of_peft(reading):
    text = "trainer: {precision: bf16-true}\nmodel: {pretrained_llm: org/m, lora: {r: 8, lora_dropout: 0.1}}\n"
    config = reading(READER, text)
    assert [config.get(f"adapter.{name}").value for name in ("method", "rank", "alpha", "dropout")] == [
        "lora",
        8,
        8,
        0.1,
    ]
    assert config.get("precision.pure_bf16").value is True


def test_a_generation_config_does_not_train(reading):
    assert (
        reading(READER, "inference: {greedy: true}\nmodel: {peft: {peft_scheme: lora}}\n").get("train.enabled").value
        is False
    )


def test_writes_back(reading):
    config = reading(READER, FILE % "lora")
    assert config.write("adapter.rank", 16) == ("model.peft.lora_tuning.adapter_dim", 16)
    assert config.write("precision.fp16", True) == ("trainer.precision", "16")
    assert config.write("adapter.targets", "all-linear") == ("model.peft.lora_tuning.target_modules", ["all"])
    assert config.write("adapter.method", "full") == ("model.peft.peft_scheme", "none")
    assert config.write("optim.lr", 2e-4) == ("model.optim.lr", 2e-4)
    assert config.write("data.train_on_inputs", True) == ("model.answer_only_loss", False)


def test_tells_slips_only(reading, observed):
    found = observed(reading(READER, "own: 1\nmodel: {peft: {peft_schema: lora, lora_tuning: {adaptor_dim: 8}}}\n"))
    assert {key: one.replacement for key, one in found.items()} == {
        "model.peft.peft_schema": "peft_scheme",
        "model.peft.lora_tuning.adaptor_dim": "adapter_dim",
    }


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("file_names: [a.jsonl], concat_sampling_probabilities: null", True),
        ("file_names: [a.jsonl, b.jsonl], concat_sampling_probabilities: [1.0]", True),
        ("file_names: [a.jsonl, b.jsonl], concat_sampling_probabilities: [0.5, 0.5]", False),
        ("file_names: [a.jsonl], concat_sampling_probabilities: ${shares}", False),
        ("file_names: [a.jsonl]", False),
        ("file_names: ???, concat_sampling_probabilities: null", False),
    ],
)
def test_each_file_of_rows_needs_its_share(reading, rows, found):
    text = f"trainer: {{max_steps: 9}}\nmodel:\n  restore_from_path: m.nemo\n  data:\n    train_ds: {{{rows}}}\n"
    told = [one.value.key for layer in reading(READER, text).layers for one in layer.observations]
    assert told == ["model.data.train_ds.concat_sampling_probabilities"] * found
