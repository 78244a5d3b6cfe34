"""diffusion-pipe: sections of TOML, alpha as rank, and two ways to stop at start."""

from __future__ import annotations

import re

import pytest

from loralint.frameworks.readers.diffusion_pipe import READER

FILE = """\
output_dir = "out"
dataset = "dataset.toml"
epochs = 100
micro_batch_size_per_gpu = 1
save_every_n_epochs = 5
activation_checkpointing = "unsloth"

[model]
type = "wan"
ckpt_path = "Wan2.1-T2V-14B"
dtype = "bfloat16"

[adapter]
type = "lora"
rank = 32

[optimizer]
type = "AdamW8bitKahan"
lr = 2e-5
betas = [0.9, 0.99]
"""


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, FILE, "wan.toml")
    expected = {
        "train.task": "diffusion",
        "model.diffusion_family": "wan",
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.alpha": 32,
        "adapter.dtype": "bf16",
        "optim.name": "adamw8bitkahan",
        "optim.lr": 2e-5,
        "optim.beta2": 0.99,
        "memory.gradient_checkpointing": True,
        "train.epochs": 100,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_without_an_adapter_everything_trains(reading):
    text = FILE.replace('[adapter]\ntype = "lora"\nrank = 32\n', "")
    assert reading(READER, text, "wan.toml").get("adapter.method").value == "full"


def test_what_stops_it(reading, observed):
    text = FILE.replace("rank = 32", "rank = 32\nalpha = 16").replace("save_every_n_epochs = 5\n", "")
    found = observed(reading(READER, text, "wan.toml"))
    assert {key: one.effect for key, one in found.items()} == {"adapter.alpha": "crash", "output_dir": "crash"}
    assert found["adapter.alpha"].rewrite == "remove"


def test_a_slip_in_when_to_save_is_pointed_at(reading, observed):
    """The assertion is about a key that is lacking, and here stands what was meant for it; another key is no slip."""
    text = FILE.replace("save_every_n_epochs = 5", "save_every_n_epoch = 5\neval_every_n_epochs = 1")
    ((key, one),) = observed(reading(READER, text, "wan.toml")).items()
    assert (key, one.replacement, one.rewrite) == ("save_every_n_epoch", "save_every_n_epochs", "key")
    text = FILE.replace("save_every_n_epochs = 5", "eval_every_n_epochs = 1")
    ((key, one),) = observed(reading(READER, text, "wan.toml")).items()
    assert (key, one.replacement) == ("output_dir", "")
    assert one.data["advice"].startswith("write `save_every_n_epochs = 1`")


@pytest.mark.parametrize("path", ["/models/Wan2.2-I2V-A14B", "/models/Wan2.2-T2V-A14B/"])
def test_a_checkpoint_of_two_models(reading, observed, path):
    text = re.sub(r"ckpt_path = .*", f'ckpt_path = "{path}"', FILE)
    assert list(observed(reading(READER, text, "wan.toml"))) == ["model.ckpt_path"]
    named = text.replace("[model]\n", f'[model]\ntransformer_path = "{path}/low_noise_model"\n')
    assert observed(reading(READER, named, "wan.toml")) == {}


@pytest.mark.parametrize(
    ("model", "told"), [("sdxl", ["blocks_to_swap"]), ("lumina_2", ["blocks_to_swap"]), ("wan", [])]
)
def test_models_whose_blocks_are_not_swapped(reading, observed, model, told):
    text = FILE.replace('type = "wan"', f'type = "{model}"').replace(
        "epochs = 100\n", "epochs = 100\nblocks_to_swap = 8\n"
    )
    assert list(observed(reading(READER, text, "lora.toml"))) == told


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("min_t = 0.875\n" + FILE, "min_t"),
        (FILE.replace("rank = 32", "rank = 32\nflux_shift = true"), "adapter.flux_shift"),
    ],
)
def test_settings_of_the_model_outside_of_its_table(reading, observed, text, key):
    found = observed(reading(READER, text, "wan.toml"))
    assert (found[key].kind, found[key].effect) == ("ignored", "changed")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('transformer_path = "Wan2.2-T2V-A14B/high_noise_model"', True),
        ('transformer_path = "Wan2.2-T2V-A14B/high_noise_model"\nmin_t = 0.875', False),
        ('transformer_path = "Wan2.2-T2V-A14B/low_noise_model"', False),
    ],
)
def test_the_half_for_much_noise(reading, observed, line, told):
    text = FILE.replace('dtype = "bfloat16"', f'dtype = "bfloat16"\n{line}')
    found = observed(reading(READER, text, "wan.toml"))
    assert ("model.min_t" in found) is told
