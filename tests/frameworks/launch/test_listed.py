"""What argparse of a trainer's own script refuses, told at its place."""

from __future__ import annotations

import pytest

from loralint.frameworks.launch.listed import listed

FLUX = "diffusers:train_dreambooth_lora_flux"
WHOLE = "python train_dreambooth_lora_flux.py --output_dir o --rank 8 --resolution 512 --dataset_name a/b --seed 1"


def _told(find, text, known=FLUX):
    (launch,) = find(text)
    return [(one.kind, one.effect, one.value.key) for one in listed(launch, known, "diffusers")]


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("--instance_prompt sks --pretrained_model_name_or_path m", []),
        ("--pretrained_model_name_or_path m", [("option-missing", "crash", "instance_prompt")]),
        ("", [("option-missing", "crash", "pretrained_model_name_or_path")]),
        ("$MORE", []),
        ("--instance_prompt sks --pretrained_model_name_or_path m --push_to_hub", []),
        (
            "--instance_prompt sks --pretrained_model_name_or_path m --push_to_hub=true",
            [("rejected", "crash", "push_to_hub")],
        ),
        (
            "--push_to_hub False --instance_prompt sks --pretrained_model_name_or_path m",
            [("rejected", "crash", "push_to_hub")],
        ),
        ("--instance_prompt sks --pretrained_model_name_or_path m --push_to_hub $WHETHER", []),
    ],
)
def test_observations(find, more, wanted):
    assert _told(find, f"{WHOLE} {more}") == wanted


def test_an_excerpt_lacks_nothing(find):
    assert _told(find, "python train_dreambooth_lora_flux.py --use_8bit_adam") == []


def test_without_a_list_nothing_is_known(find):
    assert _told(find, f"{WHOLE} --push_to_hub=true", known="") == []
