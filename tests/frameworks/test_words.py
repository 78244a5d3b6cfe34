"""Words that a trainer of pictures takes for a key, by lists that are data; and keys that it passes over."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.ai_toolkit import READER as AI_TOOLKIT
from loralint.frameworks.readers.diffusion_pipe import READER as DIFFUSION_PIPE
from loralint.frameworks.readers.finetrainers import READER as FINETRAINERS
from loralint.frameworks.readers.musubi_dataset import READER as MUSUBI_DATASET
from loralint.frameworks.readers.simpletuner import READER as SIMPLETUNER

JOB = "job: extension\nconfig:\n  process:\n  - type: sd_trainer\n    train: {{{}}}\n"
TRAIN = "config.process[0].train."
PIPE = "output_dir = 'o'\nsave_every_n_epochs = 1\n{}\n"
CLIPS = "[[datasets]]\nvideo_directory = '/a'\n[[datasets]]\nvideo_directory = '/b'\n"
CASES = [
    (AI_TOOLKIT, "a.yaml", JOB.format("optimizer: adamw8bits"), f"{TRAIN}optimizer", "adamw8bit"),
    (AI_TOOLKIT, "a.yaml", JOB.format("optimizer: paged"), f"{TRAIN}optimizer", ""),
    (AI_TOOLKIT, "a.yaml", JOB.format("lr_scheduler: cosin"), f"{TRAIN}lr_scheduler", "cosine"),
    (FINETRAINERS, "a.json", '{"optimizer": "adamww"}', "optimizer", "adamw"),
    (FINETRAINERS, "a.json", '{"lr_scheduler": "warm"}', "lr_scheduler", ""),
    (DIFFUSION_PIPE, "a.toml", PIPE.format("[model]\ntype = 'wann'"), "model.type", "wan"),
    (DIFFUSION_PIPE, "a.toml", PIPE.format("[adapter]\ntype = 'locon'"), "adapter.type", ""),
    (DIFFUSION_PIPE, "a.toml", PIPE.format("gradient_cliping = 1.0"), "gradient_cliping", "gradient_clipping"),
    (MUSUBI_DATASET, "a.toml", f"{CLIPS}frame_extraction = 'heads'\n", "datasets[1].frame_extraction", "head"),
    (SIMPLETUNER, "config.json", '{"--optimizer": "adamw_bf17"}', "--optimizer", "adamw_bf16"),
    (SIMPLETUNER, "config.json", '{"base_model_precision": "nf4-bbn"}', "base_model_precision", "nf4-bnb"),
]


@pytest.mark.parametrize(("reader", "name", "text", "key", "meant"), CASES)
def test_a_word_that_is_none_of_its_own(reading, observed, reader, name, text, key, meant):
    assert observed(reading(reader, text, name))[key].replacement == meant


@pytest.mark.parametrize(
    ("reader", "name", "text"),
    [
        (AI_TOOLKIT, "a.yaml", JOB.format("optimizer: AdamW8bit, lr_scheduler: step")),
        (AI_TOOLKIT, "a.yaml", JOB.format("optimizer: prodigyopt")),
        (FINETRAINERS, "a.json", '{"optimizer": "AdamW", "lr_scheduler": "constant"}'),
        (DIFFUSION_PIPE, "a.toml", PIPE.format("own_key = 1\n[model]\ntype = 'flux'\n[adapter]\ntype = 'lokr'")),
        (MUSUBI_DATASET, "a.toml", f"{CLIPS}frame_extraction = 'uniform'\n"),
        (SIMPLETUNER, "config.json", '{"optimizer": "bnb-lion8bit-paged", "base_model_precision": "int8-quanto"}'),
    ],
)
def test_its_own_words_and_keys_of_the_users_are_left_alone(reading, observed, reader, name, text):
    assert observed(reading(reader, text, name)) == {}
