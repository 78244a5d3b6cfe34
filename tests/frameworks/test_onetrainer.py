"""OneTrainer: words of its enumerations, parts with a rate of their own, warm-up as share or count, defaults."""

from __future__ import annotations

import json

import pytest

from loralint.frameworks.readers.onetrainer import READER

PRESET = {
    "base_model_name": "stabilityai/stable-diffusion-xl-base-1.0",
    "model_type": "STABLE_DIFFUSION_XL_10_BASE",
    "training_method": "LORA",
    "learning_rate": 3e-4,
    "resolution": "1024",
    "batch_size": 4,
    "train_dtype": "BFLOAT_16",
    "unet": {"weight_dtype": "NFLOAT_4"},
    "text_encoder": {"train": False},
    "optimizer": {"optimizer": "ADAMW_8BIT", "weight_decay": 0.01},
    "learning_rate_scheduler": "COSINE",
}


def _config(reading, **changes):
    return reading(READER, json.dumps({**PRESET, **changes}), "preset.json")


def test_reads_what_the_preset_says(reading, observed):
    config = _config(reading)
    expected = {
        "model.diffusion_family": "sdxl",
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.alpha": 1.0,
        "adapter.dtype": "fp32",
        "quant.bits": 4,
        "optim.name": "adamw_8bit",
        "optim.lr": 3e-4,
        "optim.weight_decay": 0.01,
        "schedule.name": "cosine",
        "schedule.warmup_steps": 200,
        "batch.micro": 4,
        "train.epochs": 100,
        "train.text_encoder": False,
        "precision.bf16": True,
        "precision.fp16": False,
        "data.resolution": 1024,
        "data.cache_latents": True,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


@pytest.mark.parametrize(
    ("changes", "method"),
    [({"peft_type": "LOKR"}, "lokr"), ({"training_method": "FINE_TUNE", "peft_type": "LORA"}, "full"),
     ({"training_method": "EMBEDDING"}, "embedding")],
)  # fmt: skip
def test_methods(reading, changes, method):
    assert _config(reading, **changes).get("adapter.method").value == method


def test_a_part_has_its_own_rate(reading):
    config = _config(reading, unet={"learning_rate": 1e-4}, text_encoder={"train": True, "learning_rate": 1e-5})
    assert config.get("optim.lr").value == 1e-4
    assert config.get("optim.text_encoder_lr").value == 1e-5


def test_warm_up_up_to_one_is_a_share(reading):
    config = _config(reading, learning_rate_warmup_steps=0.1)
    assert config.get("schedule.warmup_ratio").value == 0.1


def test_min_snr_is_a_weight_with_a_strength(reading):
    assert _config(reading, loss_weight_fn="MIN_SNR_GAMMA").get("train.min_snr_gamma").value is None
    config = _config(reading, loss_weight_fn="MIN_SNR_GAMMA", loss_weight_strength=4.0)
    assert config.get("train.min_snr_gamma").value == 4.0
    assert _config(reading, loss_weight_strength=4.0).get("train.min_snr_gamma").value is None


def test_a_word_that_no_enumeration_has(reading, observed):
    found = observed(_config(reading, optimizer={"optimizer": "PRODIGYY"}, lora_rnak=8))
    assert (found["optimizer.optimizer"].kind, found["optimizer.optimizer"].effect) == ("rejected", "lost")
    assert found["lora_rnak"].replacement == "lora_rank"
    assert (found["optimizer.optimizer"].replacement, found["optimizer.optimizer"].rewrite) == ("PRODIGY", "value")
    assert observed(_config(reading, training_method="LORAA"))["training_method"].replacement == "LORA"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"optimizer": {"optimizer": "ADAMW", "fused": True, "stochastic_rounding": True}}, "optimizer.fused"),
        ({"optimizer": {"optimizer": "ADAM", "foreach": True, "fused_back_pass": True}}, "optimizer.foreach"),
        ({"model_type": "FLUX_DEV_1", "loss_weight_fn": "MIN_SNR_GAMMA"}, "loss_weight_fn"),
        ({"loss_weight_fn": "SIGMA"}, "loss_weight_fn"),
        ({"dataloader_threads": 2, "text_encoder": {"offload_fraction": 0.5}}, "dataloader_threads"),
        (
            {
                "optimizer": {"optimizer": "ADAFACTOR", "fused_back_pass": True},
                "multi_gpu": True,
                "fused_gradient_reduce": False,
            },
            "fused_gradient_reduce",
        ),
    ],
)
def test_what_it_refuses(reading, observed, changes, key):
    found = observed(_config(reading, **changes))
    assert {name: (one.kind, one.effect) for name, one in found.items()} == {key: ("rejected", "crash")}


@pytest.mark.parametrize(
    "changes",
    [
        {"optimizer": {"optimizer": "ADAMW", "fused": True, "stochastic_rounding": False}},
        {"optimizer": {"optimizer": "ADAFACTOR", "stochastic_rounding": True, "fused_back_pass": True}},
        {"model_type": "FLUX_DEV_1", "loss_weight_fn": "SIGMA"},
        {"loss_weight_fn": "MIN_SNR_GAMMA"},
        {"dataloader_threads": 1, "text_encoder": {"offload_fraction": 0.5}},
        {"multi_gpu": True, "fused_gradient_reduce": False},
    ],
)
def test_what_it_takes(reading, observed, changes):
    assert observed(_config(reading, **changes)) == {}


def test_writes_in_its_own_words(reading):
    config = _config(reading)
    assert config.write("adapter.rank", 8) == ("lora_rank", 8)
    assert config.write("precision.bf16", value=False) == ("train_dtype", "FLOAT_32")
    assert config.write("adapter.dtype", "fp32") == ("lora_weight_dtype", "FLOAT_32")
    assert config.write("data.resolution", 1024) == ("resolution", "1024")
