"""Presets of the kohya_ss window: texts as numbers, boxes as architectures, rates by part, and nothing by default."""

from __future__ import annotations

import json

import pytest

from loralint.frameworks.readers.kohya_gui import READER

PRESET = {
    "LoRA_type": "Standard",
    "pretrained_model_name_or_path": "stabilityai/stable-diffusion-xl-base-1.0",
    "sdxl": True,
    "v2": False,
    "mixed_precision": "fp16",
    "sdxl_no_half_vae": True,
    "network_dim": 32,
    "network_alpha": 16,
    "conv_dim": 8,
    "learning_rate": "0.0001",
    "unet_lr": "0.0002",
    "text_encoder_lr": "5e-5",
    "optimizer": "AdamW8bit",
    "optimizer_args": "weight_decay=0.1 betas=0.9,0.99",
    "lr_scheduler": "cosine",
    "lr_warmup": "10",
    "max_resolution": "1024,768",
    "train_batch_size": 2,
    "epoch": "10",
    "max_train_steps": "",
    "train_data_dir": "/data/img",
    "cache_latents": True,
    "scale_weight_norms": 0,
}


def _config(reading, **changes):
    settings = {key: value for key, value in {**PRESET, **changes}.items() if value != "absent"}
    return reading(READER, json.dumps(settings), "preset.json")


def test_reads_what_the_preset_says(reading):
    config = _config(reading)
    expected = {
        "train.task": "diffusion",
        "model.diffusion_family": "sdxl",
        "model.vae_full_precision": True,
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.alpha": 16,
        "optim.name": "adamw8bit",
        "optim.lr": 2e-4,
        "optim.text_encoder_lr": 5e-5,
        "optim.args": {"weight_decay": "0.1", "betas": "0.9,0.99"},
        "schedule.name": "cosine",
        "schedule.warmup_ratio": 0.1,
        "batch.micro": 2,
        "train.epochs": 10,
        "train.text_encoder": True,
        "precision.fp16": True,
        "precision.bf16": False,
        "data.datasets": ["/data/img"],
        "data.resolution": 887,
        "data.cache_latents": True,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert not config.get("adapter.conv_rank").known  # Standard does not read it


def test_what_is_absent_is_not_known(reading):
    value = _config(reading, max_grad_norm="absent").get("optim.max_grad_norm")
    assert not value.known
    assert value.value.reason == "`max_grad_norm` is not in this file: the window keeps what it has"


@pytest.mark.parametrize(
    ("kind", "method"),
    [("LyCORIS/LoCon", "lora"), ("Kohya LoCon", "lora"), ("LyCORIS/LoKr", "lokr"), ("LyCORIS/Diag-OFT", "oft"),
     ("LyCORIS/Native Fine-Tuning", "full"), ("Flux1", "lora")],
)  # fmt: skip
def test_kinds_of_networks(reading, kind, method):
    assert _config(reading, LoRA_type=kind).get("adapter.method").value == method


def test_without_a_kind_the_keys_tell(reading):
    assert _config(reading, LoRA_type="absent").get("adapter.method").value == "lora"
    assert _config(reading, LoRA_type="absent", network_dim="absent").get("adapter.method").value == "full"
    textual = _config(reading, LoRA_type="absent", network_dim="absent", num_vectors_per_token=4)
    assert textual.get("adapter.method").value == "embedding"


@pytest.mark.parametrize(
    ("boxes", "family"),
    [({"sdxl": False}, "sd15"), ({"sdxl": False, "v2": True}, "sd2"), ({"sdxl": False, "flux1_checkbox": True}, "flux"),
     ({"sdxl": False, "flux1_checkbox": True, "model_type": "chroma"}, "chroma")],
)  # fmt: skip
def test_boxes_are_architectures(reading, boxes, family):
    assert _config(reading, **boxes).get("model.diffusion_family").value == family


@pytest.mark.parametrize(
    ("text", "unet", "trains", "rate", "text_rate"),
    [
        (0, 1e-4, False, 1e-4, None),
        ("", "0.0001", False, 1e-4, None),
        (5e-5, 0, True, 5e-5, 5e-5),  # the text encoder alone
        (0, 0, True, 1e-4, None),  # both, at the common rate
    ],
)
def test_a_rate_of_zero_leaves_a_part_out(reading, text, unet, trains, rate, text_rate):
    config = _config(reading, text_encoder_lr=text, unet_lr=unet)
    assert config.get("train.text_encoder").value is trains
    assert config.get("optim.lr").value == rate
    assert (config.get("optim.text_encoder_lr").value if text_rate else None) == text_rate


def test_alpha_zero_is_the_rank(reading):
    assert _config(reading, network_alpha=0).get("adapter.alpha").value == 32


def test_a_cache_counts_with_its_box(reading):
    cached = {"sdxl_cache_text_encoder_outputs": True}
    assert _config(reading, **cached).get("data.cache_text").value is True
    assert not _config(reading, sdxl=False, **cached).get("data.cache_text").known


def test_writes_in_its_own_words(reading):
    config = _config(reading)
    assert config.write("data.resolution", 1024) == ("max_resolution", "1024,1024")
    assert config.write("schedule.warmup_ratio", 0.05) == ("lr_warmup", 5.0)
    assert config.write("adapter.method", "lora") == ("LoRA_type", "Standard")
