"""SimpleTuner: flags with and without dashes, alpha as rank, clipping by value, LyCORIS elsewhere, refusals."""

from __future__ import annotations

import json

import pytest

from loralint.frameworks.detect import detect
from loralint.frameworks.detect import reader as by_module
from loralint.frameworks.readers.simpletuner import READER
from loralint.source.read import read_bytes

WHOLE = {
    "model_family": "sd3",
    "model_type": "lora",
    "lora_rank": 64,
    "base_model_precision": "int8-quanto",
    "optimizer": "optimi-lion",
    "learning_rate": "1e-4",
    "lr_scheduler": "constant",
    "lr_warmup_steps": 50,
    "max_train_steps": 1000,
    "num_train_epochs": 0,
    "train_batch_size": 2,
    "mixed_precision": "bf16",
    "max_grad_norm": 0.01,
    "report_to": "none",
    "output_dir": "out",
    "data_backend_config": "data.json",
}


def _json(**changes):
    settings = {**WHOLE, **changes}
    return json.dumps({key: value for key, value in settings.items() if value != "absent"}, indent=1)


def test_reads_what_the_file_says(reading):
    config = reading(READER, _json(), "config.json")
    expected = {
        "train.task": "diffusion",
        "model.diffusion_family": "sd3",
        "adapter.method": "lora",
        "adapter.rank": 64,
        "adapter.alpha": 64,
        "adapter.dropout": 0.1,
        "adapter.init": "true",
        "quant.bits": 8,
        "quant.method": "quanto",
        "optim.name": "optimi-lion",
        "optim.lr": 1e-4,
        "optim.max_grad_norm": None,
        "schedule.name": "constant_with_warmup",
        "schedule.warmup_steps": 50,
        "train.max_steps": 1000,
        "train.epochs": 0,
        "train.report_to": [],
        "train.text_encoder": False,
        "precision.bf16": True,
        "precision.fp16": False,
        "batch.micro": 2,
        "batch.accumulation": 1,
        "memory.gradient_checkpointing": True,
    }
    assert {field: config.get(field).value for field in expected} == expected


@pytest.mark.parametrize(
    ("schedule", "warmup"),
    [("cosine", 0), ("cosine_with_restarts", 0), ("sine", 0), ("polynomial", 50), ("linear", 50)],
)
def test_the_warm_up_of_waves_is_their_length(reading, schedule, warmup):
    config = reading(READER, _json(lr_scheduler=schedule), "config.json")
    assert config.get("schedule.warmup_steps").value == warmup


def test_keys_may_be_flags(reading, observed):
    text = json.dumps({f"--{key}": value for key, value in WHOLE.items()} | {"--lora_alpha": 32})
    config = reading(READER, text, "config.json")
    assert (config.get("adapter.rank").value, config.get("adapter.alpha").value) == (64, 32)
    assert config.get("adapter.alpha").key == "--lora_alpha"
    assert config.write("adapter.rank", 16) == ("--lora_rank", 16)
    assert observed(config) == {}


def test_writes_in_its_own_words(reading):
    config = reading(READER, _json(), "config.json")
    assert config.write("adapter.rank", 16) == ("lora_rank", 16)
    assert config.write("adapter.init", "true") == ("lora_init_type", "default")
    assert config.write("quant.bits", 16) == ("base_model_precision", "no_change")
    assert config.write("precision.fp16", value=True) == ("mixed_precision", "fp16")
    assert config.write("schedule.warmup_steps", 10) == ("lr_warmup_steps", 10)


def test_lycoris_says_it_elsewhere(reading):
    config = reading(READER, _json(lora_type="lycoris"), "config.json")
    assert not config.get("adapter.method").known
    assert "lycoris_config" in config.get("adapter.method").value.reason


def test_clipping_by_norm_is_clipping(reading):
    assert reading(READER, _json(grad_clip_method="norm"), "config.json").get("optim.max_grad_norm").value == 0.01


def test_a_fragment_has_no_defaults(reading):
    config = reading(READER, '{"model_family": "flux", "model_type": "lora", "lora_rank": 16}', "config.json")
    assert config.get("train.task").value == "diffusion"
    assert not config.get("optim.lr").known
    assert "`output_dir`" in config.get("optim.lr").value.reason


@pytest.mark.parametrize(
    ("changes", "key", "kind", "effect", "to"),
    [
        ({"num_train_epochs": 3}, "num_train_epochs", "rejected", "crash", "0"),
        ({"num_train_epochs": "absent"}, "max_train_steps", "rejected", "crash", ""),
        ({"optimizer_beta1": 0.9}, "optimizer_beta1", "rejected", "crash", ""),
        ({"optimizer": "adafactor"}, "optimizer", "rejected", "crash", "optimi-stableadamw"),
        ({"gradient_checkpointing": "false"}, "gradient_checkpointing", "coerced", "changed", "false"),
        ({"resolution": 1, "resolution_type": "pixel"}, "resolution", "coerced", "changed", ""),
        ({"resolution": 1024, "resolution_type": "area"}, "resolution", "coerced", "changed", ""),
        ({"target_downsample_size": 1, "resolution_type": "pixel"}, "target_downsample_size", "rejected", "crash", ""),
        ({"target_downsample_size": 64, "resolution_type": "area"}, "target_downsample_size", "rejected", "crash", ""),
        ({"maximum_image_size": 2.0}, "maximum_image_size", "rejected", "crash", ""),
        (
            {"mixed_precision": "fp8", "base_model_precision": "int8-quanto"},
            "mixed_precision",
            "rejected",
            "crash",
            "bf16",
        ),
        ({"fsdp_enable": True, "deepspeed_config": "ds.json"}, "deepspeed_config", "rejected", "crash", ""),
        ({"lora_rnak": 8}, "lora_rnak", "unknown", "crash", "lora_rank"),
        ({"lr_scheduler": "cosin"}, "lr_scheduler", "rejected", "crash", "cosine"),
    ],
)
def test_observes(reading, observed, changes, key, kind, effect, to):
    found = observed(reading(READER, _json(**changes), "config.json"))[key]
    assert (found.kind, found.effect, found.replacement) == (kind, effect, to)


@pytest.mark.parametrize(
    "changes",
    [
        {"optimizer_beta1": 0.9, "optimizer_beta2": 0.95},
        {"gradient_checkpointing": False},
        {"resolution": 1.0, "resolution_type": "area"},
        {"resolution": 0},
        {"max_train_steps": 0, "num_train_epochs": 3},
        {"save_total_limit": 3, "checkpointing_steps": 100},
        {"caption_dropout_prob": 0.1},  # argparse takes a prefix
        {"optimizer_beta1": None},
        {"maximum_image_size": 2.0, "target_downsample_size": 1.0},
        {"mixed_precision": "fp8", "base_model_precision": "fp8-torchao"},
        {"fsdp_enable": False, "deepspeed_config": "ds.json"},
    ],
)
def test_leaves_alone(reading, observed, changes):
    assert observed(reading(READER, _json(**changes), "config.json")) == {}


def test_reads_what_the_web_interface_saves(reading, observed):
    saved = {"_metadata": {"name": "default", "tags": []}, "config": {f"--{key}": one for key, one in WHOLE.items()}}
    saved["config"]["--optimizer_beta1"] = 0.9
    document = json.dumps(saved, indent=1)
    found = detect(read_bytes(document.encode(), "default.json"))
    assert found is not None
    assert (found.framework, found.module) == ("simpletuner", "simpletuner_saved")
    config = reading(by_module(found.module), document, "default.json")
    rank = config.get("adapter.rank")
    assert (rank.value, rank.pointer, rank.span.line) == (64, "/config/--lora_rank", 9)
    assert observed(config)["--optimizer_beta1"].value.pointer == "/config/--optimizer_beta1"


def test_a_file_with_another_config_is_not_simpletuners():
    text = json.dumps({"_metadata": {}, "config": {"learning_rate": 1e-4}})
    assert detect(read_bytes(text.encode(), "default.json")) is None
