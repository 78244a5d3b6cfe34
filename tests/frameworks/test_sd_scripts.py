"""sd-scripts: sections without meaning, alpha 1, rates by part, networks by module and arguments."""

from __future__ import annotations

import pytest

import loralint
from loralint.frameworks.detect import detect
from loralint.frameworks.readers.sd_scripts import READER
from loralint.frameworks.readers.sd_scripts_flags import reader_of
from loralint.model import Unknown
from loralint.source.read import read_bytes

FILE = """\
[Basics]
pretrained_model_name_or_path = "m.safetensors"
train_data_dir = "data/img"
resolution = "512"
max_train_epochs = 2

[Network_setup]
network_dim = 16
network_module = "lycoris.kohya"
network_args = ["preset=full", "algo=lokr"]

[Optimizer]
unet_lr = 1e-4
lr_warmup_steps = 0.1
mixed_precision = "bf16"
"""


def test_sections_mean_nothing(reading):
    config = reading(READER, FILE, "config.toml")
    expected = {
        "train.task": "diffusion",
        "model.base": "m.safetensors",
        "adapter.method": "lokr",
        "adapter.rank": 16,
        "adapter.alpha": 1.0,
        "optim.name": "adamw",
        "optim.lr": 1e-4,
        "optim.text_encoder_lr": 1e-4,
        "schedule.name": "constant",
        "schedule.warmup_ratio": 0.1,
        "schedule.warmup_steps": 0,
        "train.epochs": 2,
        "train.max_steps": None,
        "train.text_encoder": True,
        "precision.bf16": True,
        "data.datasets": ["data/img"],
        "data.resolution": 512,
        "data.caption_extension": ".caption",
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert config.get("adapter.rank").span.line == 8


def test_is_recognised_by_keys_in_any_section():
    assert detect(read_bytes(FILE.encode(), "config.toml")).framework == "sd-scripts"
    dataset = b"[general]\nshuffle_caption = true\n[[datasets]]\nresolution = 512\n"
    assert detect(read_bytes(dataset, "dataset.toml")) is None


@pytest.mark.parametrize(
    ("module", "family", "trains"),
    [("networks.lora_flux", "flux", True), ("networks.lora_sd3", "sd3", True), ("networks.lora", None, True),
     ("networks.lora_hunyuan_image", "hunyuan_image", False)],
)  # fmt: skip
def test_the_module_may_say_the_architecture(reading, module, family, trains):
    config = reading(
        READER, f'pretrained_model_name_or_path = "m"\nnetwork_module = "{module}"\nnetwork_dim = 8\n', "c.toml"
    )
    assert config.get("adapter.method").value == "lora"
    assert config.get("model.diffusion_family").value == family
    assert config.get("train.text_encoder").value is trains


def test_rates_by_part(reading):
    base = 'pretrained_model_name_or_path = "m"\nnetwork_module = "networks.lora"\n'
    config = reading(READER, base + "text_encoder_lr = 0\n", "c.toml")
    assert (config.get("optim.lr").value, config.get("train.text_encoder").value) == (2e-6, False)
    config = reading(READER, base + "unet_lr = 1.0\nnetwork_train_unet_only = true\n", "c.toml")
    assert (config.get("optim.lr").value, config.get("optim.lr").key) == (1.0, "unet_lr")


def test_alpha_zero_is_the_rank(reading):
    text = 'pretrained_model_name_or_path = "m"\nnetwork_module = "networks.lora"\nnetwork_dim = 8\nnetwork_alpha = 0\n'
    assert reading(READER, text, "c.toml").get("adapter.alpha").value == 8


def test_tells_slips_and_keys_in_two_sections(reading, observed):
    text = FILE + 'netwrok_dropout = 0.1\n[More]\nresolution = "768"\nmy_own_key = 1\n'
    found = observed(reading(READER, text, "c.toml"))
    assert sorted((one.kind, key) for key, one in found.items()) == [
        ("duplicate", "resolution"),
        ("unknown", "netwrok_dropout"),
    ]
    assert found["netwrok_dropout"].replacement == "network_dropout"


def test_a_script_decides_over_the_architecture(started):
    flags = {"pretrained_model_name_or_path": "sd_xl_base_1.0.safetensors", "network_module": "networks.lora"}
    config = started(reader_of("sdxl_train_network"), flags | {"network_dim": "8", "unet_lr": "1e-4"})
    assert config.get("model.diffusion_family").value == "sdxl"
    assert (config.get("adapter.rank").value, config.get("optim.lr").value) == (8, 1e-4)
    assert started(reader_of("train_network"), {**flags, "v2": True}).get("model.diffusion_family").value == "sd2"
    assert started(reader_of("train_network"), flags).get("model.diffusion_family").value == "sd15"
    whole = {"pretrained_model_name_or_path": "m"}
    assert started(reader_of("sdxl_train"), whole).get("adapter.method").value == "full"
    assert reader_of("train_gpt") is None


def test_flags_of_several_values(started):
    flags = {"network_module": "lycoris.kohya", "network_args": ["algo=lokr", "conv_dim=4"], "resolution": "512,768"}
    config = started(
        reader_of("train_network"), {**flags, "text_encoder_lr": ["5e-5", "1e-5"], "lr_warmup_steps": "0.1"}
    )
    assert config.get("adapter.method").value == "lokr"
    assert config.get("optim.text_encoder_lr").value == 5e-5
    assert config.get("schedule.warmup_ratio").value == 0.1
    assert config.get("data.resolution").value == 627


def test_a_script_refuses_what_it_lacks(started, observed):
    base = {"pretrained_model_name_or_path": "m", "network_module": "networks.lora"}
    flags = {**base, "blocks_to_swap": "18", "max_train_epoch": "5", "mixed_precision": "fp8"}
    found = observed(started(reader_of("sdxl_train_network"), flags))
    assert {key: (one.kind, one.effect) for key, one in found.items()} == {
        "blocks_to_swap": ("unknown", "crash"),
        "mixed_precision": ("rejected", "crash"),
    }
    assert observed(started(reader_of("flux_train_network"), {**base, "blocks_to_swap": "18"})) == {}


PRESET = """\
[metadata]
name = "faces"
version = "1.0"
train_type = "sdxl-lora"

[data]
network_dim = 16
{} = 1e-4
positive_prompts = "a face"
"""


@pytest.mark.parametrize(("key", "found"), [("unet_lr", set()), ("unet_lrr", {"unet_lrr"}), ("gpu_ids", set())])
def test_a_preset_of_a_form_says_what_it_changes(tmp_path, key, found):
    """Keys of the form's own are no fault, and what the preset leaves out is not known."""
    (tmp_path / "faces.toml").write_text(PRESET.format(key), encoding="utf-8")
    (run,) = loralint.check(tmp_path, show_settings=True).runs
    assert run.framework == "sd-scripts"
    assert {one.key for one in run.findings} == found
    values = {row.parameter: row.value.value for row in run.settings}
    assert values["adapter.rank"] == 16
    assert isinstance(values["adapter.alpha"], Unknown)
