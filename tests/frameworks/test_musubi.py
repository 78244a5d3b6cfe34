"""musubi-tuner: its TOML told from sd-scripts', and the flags of each trainer."""

from __future__ import annotations

import pytest

from loralint.api import check
from loralint.frameworks.detect import detect
from loralint.frameworks.readers.musubi import READER, reader_of
from loralint.source.read import read_bytes

FILE = """\
dit = "wan2.1_t2v_14B_bf16.safetensors"
dataset_config = "dataset.toml"
network_module = "networks.lora_wan"
network_dim = 32
optimizer_type = "adamw8bit"
learning_rate = 2e-4
mixed_precision = "bf16"
timestep_sampling = "shift"
discrete_flow_shift = 3.0
"""


def test_reads_a_file(reading):
    config = reading(READER, FILE, "config.toml")
    expected = {
        "model.base": "wan2.1_t2v_14B_bf16.safetensors",
        "model.diffusion_family": "wan",
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.alpha": 1.0,
        "optim.lr": 2e-4,
        "precision.bf16": True,
        "precision.fp16": False,
        "train.text_encoder": False,
        "train.max_steps": 1600,
        "train.flow_shift": 3.0,
        "data.config": "dataset.toml",
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_is_told_from_sd_scripts():
    assert detect(read_bytes(FILE.encode(), "config.toml")).framework == "musubi-tuner"
    other = FILE.replace("dit =", "pretrained_model_name_or_path =")
    assert detect(read_bytes(other.encode(), "config.toml")).framework == "sd-scripts"


@pytest.mark.parametrize(
    ("script", "family", "method"),
    [("wan_train_network", "wan", "lora"), ("hv_train_network", "hunyuan_video", "lora"),
     ("flux_2_train_network_self_flow", "flux2", "lora"), ("qwen_image_train", "qwen_image", "full")],
)  # fmt: skip
def test_a_script_decides_over_the_architecture(started, script, family, method):
    flags = {"dit": "d.safetensors"} | ({"network_module": "networks.lora"} if method == "lora" else {})
    config = started(reader_of(script), flags)
    assert (config.get("model.diffusion_family").value, config.get("adapter.method").value) == (family, method)


def test_a_script_refuses_what_it_lacks(started, observed):
    flags = {"dit": "d.safetensors", "network_module": "networks.lora_wan", "train_batch_size": "1", "fp8_llm": True}
    found = observed(started(reader_of("wan_train_network"), flags))
    assert {key: (one.kind, one.effect) for key, one in found.items()} == {
        "train_batch_size": ("unknown", "crash"),
        "fp8_llm": ("unknown", "crash"),
    }
    assert "fp8_llm" not in observed(started(reader_of("hv_train_network"), flags))


@pytest.mark.parametrize(
    ("task", "weights", "wanted"),
    [
        ("i2v-14B", "wan2.2_i2v_high_noise_14B_fp16.safetensors", "i2v-A14B"),
        ("t2v-A14B", "C:\\\\models\\\\wan2.2_i2v_low_noise_14B_bf16.safetensors", "i2v-A14B"),
        ("t2v-14B", "models/wan2.1_t2v_1.3B_bf16.safetensors", "t2v-1.3B"),
        ("i2v-A14B", "Wan2_1-I2V-14B-720P_fp8_e4m3fn.safetensors", "i2v-14B"),
        ("t2v-14B", "wan2.2_t2v_low_noise_14B_fp16.safetensors", None),
        ("t2i-14B", "wan2.1_t2v_14B_bf16.safetensors", None),
        ("i2v-A14B", "wan2.2_i2v_high_noise_14B_fp16.safetensors", None),
        ("i2v-14B-FC", "wan2.1_i2v_14B_fun_control.safetensors", None),
        ("t2v-14B", "my_i2v_merge.safetensors", None),
        ("t2v-14B", "wan2.2_ti2v_5B_fp16.safetensors", None),
    ],
)
def test_weights_of_another_task(reading, observed, task, weights, wanted):
    text = FILE.replace("wan2.1_t2v_14B_bf16.safetensors", weights) + f'task = "{task}"\n'
    found = observed(reading(READER, text, "config.toml"))
    assert {key: one.replacement for key, one in found.items() if one.kind == "rejected"} == (
        {"task": wanted} if wanted else {}
    )


def test_datasets_are_not_settings(reading, observed):
    text = FILE + '[[datasets]]\nimage_directory = "pictures"\n'
    (one,) = observed(reading(READER, text, "config.toml")).items()
    assert (one[0], one[1].kind, one[1].effect) == ("datasets", "ignored", "lost")


@pytest.mark.parametrize(
    ("script", "switches", "told"),
    [
        ("hv_train_network", "--xformers", ["xformers"]),
        ("hv_train_network", "--flash3", ["flash3"]),
        ("hv_train_network", "--xformers --split_attn", []),
        ("hv_train_network", "--sdpa --flash3", []),
        ("wan_train_network", "--xformers", []),
    ],
)
def test_kernels_that_hunyuan_video_does_not_take(tmp_path, script, switches, told):
    flags = (
        "--dit d.safetensors --dataset_config d.toml --network_module networks.lora --network_dim 16 --output_dir out"
    )
    (tmp_path / "train.sh").write_text(f"accelerate launch {script}.py {flags} --learning_rate 1e-4 {switches}\n")
    found = [one for run in check(tmp_path).runs for one in run.findings if one.rule == "LL108"]
    assert [one.key for one in found] == told
