"""The LoRA scripts of diffusers: their own defaults, alpha by script and by release, one rate for Prodigy."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.diffusers import reader_of
from loralint.model import Unknown

FLAGS = {"pretrained_model_name_or_path": "some/model", "output_dir": "out"}
NOW = {"diffusers": "0.39.0"}


def test_defaults_of_a_script(started):
    config = started(reader_of("train_text_to_image_lora_sdxl"), FLAGS, NOW)
    expected = {
        "train.task": "diffusion",
        "model.diffusion_family": "sdxl",
        "adapter.method": "lora",
        "adapter.rank": 4,
        "adapter.alpha": 4,
        "adapter.init": "gaussian",
        "optim.name": "adamw",
        "optim.lr": 1e-4,
        "batch.micro": 16,
        "train.epochs": 100,
        "train.max_steps": None,
        "train.text_encoder": False,
        "optim.text_encoder_lr": None,
        "data.resolution": 1024,
        "precision.bf16": None,
    }
    assert {field: config.get(field).value for field in expected} == expected


@pytest.mark.parametrize(
    ("script", "release", "alpha"),
    [("train_dreambooth_lora_flux", "0.39.0", 4), ("train_dreambooth_lora_flux", "0.33.1", 64),
     ("train_dreambooth_lora_sdxl", "0.39.0", 64), ("train_cogvideox_lora", "0.31.0", 128),
     ("train_dreambooth_lora_krea2", "0.39.0", 32)],
)  # fmt: skip
def test_alpha_where_only_the_rank_is_given(started, script, release, alpha):
    assert (
        started(reader_of(script), FLAGS | {"rank": "64"}, {"diffusers": release}).get("adapter.alpha").value == alpha
    )


def test_rates(started):
    text = FLAGS | {"train_text_encoder": True, "learning_rate": "1e-4"}
    script = reader_of("train_dreambooth_lora_sdxl")
    assert started(script, text, NOW).get("optim.text_encoder_lr").value == 5e-6
    prodigy = {"optimizer": "prodigy", "learning_rate": "1.0", "text_encoder_lr": "0.5"}
    assert started(script, text | prodigy, NOW).get("optim.text_encoder_lr").value == 1.0
    assert isinstance(started(script, text | {"scale_lr": True}, NOW).get("optim.lr").value, Unknown)


def test_the_switch_of_8bit_adam_is_for_adamw(started):
    script = reader_of("train_dreambooth_lora_sdxl")
    assert started(script, FLAGS | {"use_8bit_adam": True}, NOW).get("optim.name").value == "adamw8bit"
    both = {"use_8bit_adam": True, "optimizer": "Prodigy"}
    assert started(script, FLAGS | both, NOW).get("optim.name").value == "prodigy"


def test_observes_texts_behind_switches_and_flags_of_other_scripts(started, observed):
    flags = FLAGS | {"prodigy_decouple": "False", "lora_alpha": "8"}
    found = observed(started(reader_of("train_dreambooth_lora_sdxl"), flags, NOW))
    assert {key: (one.kind, one.effect) for key, one in found.items()} == {
        "prodigy_decouple": ("coerced", "changed"),
        "lora_alpha": ("unknown", "crash"),
    }
    assert "lora_alpha" not in observed(started(reader_of("train_dreambooth_lora_flux"), flags, NOW))


@pytest.mark.parametrize(
    ("given", "told"),
    [({"report_to": "wandb", "hub_token": "x"}, ["report_to"]), ({"report_to": "wandb"}, []),
     ({"report_to": "tensorboard", "hub_token": "x"}, []), ({"hub_token": "x"}, [])],
)  # fmt: skip
def test_a_token_that_wandb_would_show(started, observed, given, told):
    found = observed(started(reader_of("train_dreambooth_lora_flux"), FLAGS | given, NOW))
    assert [key for key, one in found.items() if one.kind == "rejected"] == told
