"""finetrainers: rank and alpha of their own, one pattern for the targets."""

from __future__ import annotations

from loralint.frameworks.readers.finetrainers import READER

FLAGS = {"model_name": "wan", "training_type": "lora", "dataset_config": "training.json"}


def test_reads_flags(started, observed):
    config = started(READER, FLAGS | {"rank": "16", "target_modules": "blocks.*(to_q|to_k)", "lr": "5e-5"})
    expected = {
        "model.diffusion_family": "wan",
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.alpha": 64,
        "adapter.targets": "blocks.*(to_q|to_k)",
        "optim.lr": 5e-5,
        "train.max_steps": 1000,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_refuses_other_flags_and_words(started, observed):
    found = observed(started(READER, FLAGS | {"training_type": "qlora", "micro_batch_size": "2"}))
    assert {key: (one.kind, one.effect) for key, one in found.items()} == {
        "training_type": ("rejected", "crash"),
        "micro_batch_size": ("unknown", "crash"),
    }
