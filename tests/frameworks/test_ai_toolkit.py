"""ai-toolkit: the first process of a job, alpha by architecture, rates that Prodigy gets, and what is refused."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.ai_toolkit import READER

FILE = """\
job: extension
config:
  name: cat
  process:
    - type: sd_trainer
      training_folder: output
      network:
        type: lora
        linear: 32
        linear_alpha: 16
      save:
        save_every: 250
      datasets:
        - folder_path: /data/cat
          caption_dropout_rate: 0.05
          cache_latents_to_disk: true
          resolution: [512, 768, 1024]
        - folder_path: /data/dog
      train:
        batch_size: 2
        steps: 2000
        gradient_accumulation_steps: 4
        noise_scheduler: flowmatch
        optimizer: adamw8bit
        lr: 1e-4
        dtype: bf16
      model:
        name_or_path: black-forest-labs/FLUX.1-dev
        {model}
        quantize: true
"""
FLUX, SDXL = "is_flux: true", "arch: sdxl"


def _file(model=FLUX, **changes):
    text = FILE.replace("{model}", model)
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return text


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, _file())
    expected = {
        "train.task": "diffusion",
        "model.base": "black-forest-labs/FLUX.1-dev",
        "model.diffusion_family": "flux",
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.alpha": 32,  # the file says 16, which Flux passes over
        "quant.bits": 8,
        "optim.name": "adamw8bit",
        "optim.lr": 1e-4,
        "schedule.name": "constant",
        "batch.micro": 2,
        "batch.accumulation": 4,
        "train.max_steps": 2000,
        "train.text_encoder": False,
        "precision.bf16": True,
        "data.datasets": ["/data/cat", "/data/dog"],
        "data.resolution": 1024,
        "data.cache_latents": True,
        "data.caption_dropout": 0.05,
        "checkpoint.save_steps": 250,
    }
    assert {field: config.get(field).value for field in expected} == expected
    found = observed(config)
    assert list(found) == ["config.process[0].network.linear_alpha"]
    alpha = found["config.process[0].network.linear_alpha"]
    assert (alpha.kind, alpha.effect, alpha.replacement) == ("ignored", "lost", "32")
    assert alpha.value.pointer == "/config/process/0/network/linear_alpha"


def test_sdxl_has_an_alpha_of_its_own(reading, observed):
    config = reading(READER, _file(SDXL))
    assert config.get("adapter.alpha").value == 16
    assert config.get("model.diffusion_family").value == "sdxl"
    assert observed(config) == {}


@pytest.mark.parametrize(
    ("model", "family"),
    [("arch: wan22_14b:t2v", "wan"), ("arch: flux2_klein_4b", "flux2"), ("is_v3: true", "sd3"),
     ("is_xl: false", "sd15"), ("arch: qwen_image_edit_plus", "qwen_image")],
)  # fmt: skip
def test_architectures_have_one_name(reading, model, family):
    assert reading(READER, _file(model)).get("model.diffusion_family").value == family


def test_prodigy_gets_one(reading):
    config = reading(READER, _file(SDXL, optimizer=("adamw8bit", "prodigy")))
    assert config.get("optim.lr").value == 1.0


def test_without_a_network_everything_trains(reading):
    text = _file(network=("network:\n        type: lora\n        linear: 32\n        linear_alpha: 16", "unused: {}"))
    config = reading(READER, text)
    assert config.get("adapter.method").value == "full"
    assert config.get("quant.bits").origin == "default"


def test_writes_in_its_own_words(reading):
    config = reading(READER, _file())
    assert config.write("adapter.rank", 8) == ("config.process[0].network.linear", 8)
    assert config.write("precision.bf16", value=False) == ("config.process[0].train.dtype", "fp32")
    assert config.write("train.max_steps", 10) == ("config.process[0].train.steps", 10)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("batch_size: 2", "batch_size: 2\n        gradient_accumulation: 2", "train.gradient_accumulation_steps"),
        ("batch_size: 2", "train_text_encoder: true\n        unload_text_encoder: true", "train.unload_text_encoder"),
        ("quantize: true", "attn_masking: true", "model.attn_masking"),
        (
            "batch_size: 2",
            "diff_output_preservation: true\n        blank_prompt_preservation: true",
            "train.blank_prompt_preservation",
        ),
        (
            "batch_size: 2",
            "bypass_guidance_embedding: true\n        do_guidance_loss: true",
            "train.do_guidance_loss",
        ),
    ],
)
def test_refuses(reading, observed, old, new, key):
    found = observed(reading(READER, _file(SDXL, change=(old, new))))
    assert (found[f"config.process[0].{key}"].kind, found[f"config.process[0].{key}"].effect) == ("rejected", "crash")


def test_tells_a_slip_in_a_section(reading, observed):
    found = observed(reading(READER, _file(SDXL, change=("steps: 2000", "stpes: 2000"))))
    assert found["config.process[0].train.stpes"].replacement == "steps"


ADAPTER = '"uint4|ostris/accuracy_recovery_adapters/wan22_14b_t2i_torchao_uint4.safetensors"'


@pytest.mark.parametrize(
    ("arch", "added", "keys"),
    [
        ("qwen_image_edit_plus", "low_vram: true", ["datasets[0].control_path", "datasets[1].control_path"]),
        ("qwen_image_edit_plus:2511", "low_vram: true", ["datasets[0].control_path", "datasets[1].control_path"]),
        ("qwen_image_edit", "low_vram: true", []),
        ("ltx2", f"qtype: {ADAPTER}", ["model.qtype"]),
        ("wan22_14b:t2v", f"qtype: {ADAPTER}", []),
        ("wan21:14b", f"qtype: {ADAPTER}", []),
        ("ltx2", "qtype: uint4|mine/own.safetensors", []),
    ],
)
def test_what_a_model_wants(reading, observed, arch, added, keys):
    text = _file(f"arch: {arch}", change=("quantize: true", f"quantize: true\n        {added}"))
    found = {key for key, one in observed(reading(READER, text)).items() if one.kind == "rejected"}
    assert found == {f"config.process[0].{key}" for key in keys}


def test_pairs_and_a_text_encoder_that_reads_them(reading, observed):
    paired = _file(
        "arch: boogu_image_edit",
        one=("folder_path: /data/cat", "folder_path: /data/cat\n          control_path: /data/before"),
        two=("folder_path: /data/dog", "folder_path: /data/dog\n          control_path_1: /data/before"),
        three=("batch_size: 2", "unload_text_encoder: true"),
    )
    rejected = [key for key, one in observed(reading(READER, paired)).items() if one.kind == "rejected"]
    assert rejected == ["config.process[0].train.unload_text_encoder"]


@pytest.mark.parametrize(
    ("model", "named", "key"),
    [
        ("is_flux: true", "ddpm", "train.noise_scheduler"),
        ("arch: flux:extra", "euler", "train.noise_scheduler"),
        ("is_v3: true", "", "model.is_v3"),
        ("arch: lumina2", "", "model.arch"),
        ("is_flux: true", "flowmatch", ""),
        ("is_flux: true", "${NOISE}", ""),
        ("arch: flux_kontext", "", ""),  # which brings its scheduler along
        ("arch: sdxl", "ddpm", ""),
        ("is_flux: false", "", ""),
    ],
)
def test_noise_along_a_curve_for_a_model_of_straight_lines(reading, observed, model, named, key):
    written = f"        noise_scheduler: {named}\n" if named else ""
    text = _file(model, noise=("        noise_scheduler: flowmatch\n", written))
    found = [at for at, one in observed(reading(READER, text)).items() if one.kind == "curved-noise"]
    assert found == ([f"config.process[0].{key}"] if key else [])
