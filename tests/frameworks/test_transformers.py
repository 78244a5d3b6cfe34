"""Home-made scripts: TrainingArguments' defaults, the keys that many scripts share, and careful observations."""

from __future__ import annotations

import json

import pytest

from loralint.frameworks.readers.transformers import READER

BASE = "model_name_or_path: some/model\noutput_dir: out\nper_device_train_batch_size: 4\n"


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("use_lora: true", "adapter.method", "lora"),
        ("use_peft: false\nlora_r: 8", "adapter.method", "full"),
        ("lora_r: 8", "adapter.method", "lora"),
        ("full_finetune: true", "adapter.method", "full"),
        ("lora_rank: 32", "adapter.rank", 32),
        ("lora_target_modules: q_proj, v_proj", "adapter.targets", ["q_proj", "v_proj"]),
        ("lora_target_modules: all-linear", "adapter.targets", "all-linear"),
        (r"lora_target_modules: .*\.(q|v)_proj", "adapter.targets", r".*\.(q|v)_proj"),
        ("target_modules: [q_proj]", "adapter.targets", ["q_proj"]),
        ("target_modules: query_key_value", "adapter.targets", ["query_key_value"]),
        ("use_4bit: true", "quant.bits", 4),
        ("bits: 8", "quant.bits", 8),
        ("bits: 3", "quant.bits", None),
        ("bnb_4bit_compute_dtype: torch.bfloat16", "quant.compute_dtype", "bf16"),
        ("use_nested_quant: true", "quant.double", True),
        ("torch_dtype: float16", "model.dtype", "fp16"),
        ("learning_rate: 2e-4", "optim.lr", 2e-4),
        ("max_seq_length: 512", "data.sequence_len", 512),
        ("group_by_length: true", "train.group_by_length", True),
        ("train_sampling_strategy: group_by_length", "train.group_by_length", True),
        ("activation_checkpointing: true", "memory.gradient_checkpointing", True),
        ("gradient_checkpointing: true", "memory.reentrant", False),
    ],
)
def test_what_a_key_means(reading, line, field, value) -> None:
    assert reading(READER, BASE + line + "\n").get(field).value == value


def test_only_training_arguments_have_defaults(reading) -> None:
    config = reading(READER, BASE)
    assert config.get("optim.lr").value == 5e-5
    assert config.get("precision.bf16").value is False
    assert config.get("memory.gradient_checkpointing").value is False
    assert config.get("train.logging_steps").value == 500
    for field in ("adapter.method", "adapter.rank", "adapter.alpha", "quant.bits", "data.sequence_len", "train.task"):
        assert config.get(field).origin == "absent"


def test_each_part_of_a_separated_text_has_its_place(reading) -> None:
    found = reading(READER, BASE + "lora_target_modules: q_proj,v_proj\n").get("adapter.targets")
    places = [(item.value, item.span.line, item.span.column) for item in found.items]
    assert places == [("q_proj", 4, 22), ("v_proj", 4, 29)]


def test_json_is_read_alike(reading, observed) -> None:
    config = reading(READER, json.dumps({"output_dir": "out", "learning_rate": 1e-4, "lora_r": 4}), "args.json")
    assert (config.get("optim.lr").value, config.get("adapter.rank").value) == (1e-4, 4)
    assert not observed(config)


def test_an_exponent_in_json_is_a_number_and_a_quoted_one_is_none(reading, observed) -> None:
    number = reading(READER, '{"output_dir": "out", "learning_rate": 2e-4, "adam_epsilon": 1E-8}', "args.json")
    assert (number.get("optim.lr").value, observed(number)) == (2e-4, {})
    text = reading(READER, '{"output_dir": "out", "learning_rate": "2e-4"}', "args.json")
    assert list(observed(text)) == ["learning_rate"]


def test_no_key_is_unknown(reading, observed) -> None:
    assert not observed(reading(READER, BASE + "zebra: 1\nlearning_rat: 0.1\n"))


def test_arguments_that_the_trainer_lost(reading, observed) -> None:
    text = BASE + "evaluation_strategy: steps\nwarmup_ratio: 0.1\n"
    found = observed(reading(READER, text))
    assert {key: (one.kind, one.effect, one.replacement, one.rewrite) for key, one in found.items()} == {
        "evaluation_strategy": ("renamed", "lost", "eval_strategy", ""),
        "warmup_ratio": ("renamed", "lost", "warmup_steps", ""),
    }
    assert {one.package for one in found.values()} == {"transformers"}
    assert not observed(reading(READER, text, pins={"transformers": "4.46.3"}))


def test_a_loop_of_its_own_may_know_any_name(reading, observed) -> None:
    assert not observed(reading(READER, BASE + "warmup_ratio: 0.03\nlogging_dir: logs\n"))


def test_a_number_that_stays_text_is_told_with_care(reading, observed) -> None:
    found = observed(reading(READER, BASE + "learning_rate: 2e-5\nwarmup_steps: 1.0e-1\n"))
    assert {key: (one.kind, one.effect, one.replacement, one.rewrite) for key, one in found.items()} == {
        "learning_rate": ("coerced", "harmless", "2.0e-05", "value")
    }


def test_a_text_with_rows_for_two_fields_is_told_once(reading) -> None:
    layer = reading(READER, BASE + "warmup_steps: 5e-2\n").layers[0]
    assert [one.value.key for one in layer.observations] == ["warmup_steps"]
