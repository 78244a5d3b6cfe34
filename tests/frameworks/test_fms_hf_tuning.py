"""fms-hf-tuning: the method decides, PEFT's names with defaults of its own, quantised bases, and padding-free rows."""

from __future__ import annotations

import json

from loralint.frameworks.readers.fms_hf_tuning import READER

FILE = {
    "model_name_or_path": "meta-llama/Meta-Llama-3-8B",
    "training_data_path": "data.json",
    "output_dir": "out",
    "num_train_epochs": 1.0,
    "per_device_train_batch_size": 4,
    "learning_rate": 1e-4,
    "peft_method": "lora",
    "target_modules": ["all-linear"],
    "use_flash_attn": True,
}


def _config(reading, **changes):
    return reading(READER, json.dumps({**FILE, **changes}), "config.json", {"transformers": "4.55.4"})


def test_reads_what_the_file_says(reading, observed):
    config = _config(reading)
    expected = {
        "train.task": "sft",
        "model.dtype": "bf16",
        "model.attention": "flash_attention_2",
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 32,
        "adapter.dropout": 0.05,
        "adapter.targets": "all-linear",
        "optim.name": "adamw_torch",
        "optim.lr": 1e-4,
        "data.datasets": ["data.json"],
        "data.sequence_len": 4096,
        "checkpoint.save_strategy": "epoch",
        "batch.micro": 4,
        "train.report_to": [],
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_without_a_method_every_weight_trains(reading):
    config = _config(reading, peft_method=None)
    assert config.get("adapter.method").value == "full"
    assert config.get("adapter.alpha").value is None


def test_quantised_bases(reading):
    config = _config(reading, auto_gptq=["triton_v2"], torch_dtype="float16")
    assert (config.get("quant.bits").value, config.get("quant.method").value) == (4, "gptq")
    assert config.get("model.dtype").value == "fp16"


def test_padding_free_needs_flash_attention(reading, observed):
    found = observed(_config(reading, padding_free=["huggingface"], use_flash_attn=False))
    assert found["padding_free"].effect == "crash"
    assert observed(_config(reading, padding_free=["huggingface"])) == {}


def test_writes_in_its_own_words(reading):
    config = _config(reading)
    assert config.write("adapter.rank", 16) == ("r", 16)
    assert config.write("adapter.targets", "all-linear") == ("target_modules", ["all-linear"])
    assert config.write("model.attention", "sdpa") == ("use_flash_attn", False)


def test_tells_slips_only(reading, observed):
    found = observed(_config(reading, lora_dropuot=0.1, our_own_flag=True))
    assert {key: (one.kind, one.effect, one.replacement) for key, one in found.items()} == {
        "lora_dropuot": ("unknown", "lost", "lora_dropout")
    }
