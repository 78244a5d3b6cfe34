"""HCP-Diffusion: adapters as lists of blocks, rates that the batch multiplies, files that build on others."""

from __future__ import annotations

import pytest

from loralint.frameworks.detect import detect
from loralint.frameworks.readers.hcp_diffusion import READER
from loralint.model import Unknown
from loralint.source.read import read_bytes

WHOLE = """\
exp_dir: exps/a
mixed_precision: fp16
seed: 3
lora_unet:
  - {lr: 1e-4, rank: 8, alpha: 4, layers: ['re:.*attn.?$']}
  - {lr: 1e-4, rank: 8, alpha: 4, layers: ['re:.*ff$']}
lora_text_encoder:
  - {lr: 1e-5, rank: 4, alpha: 4, layers: ['re:.*mlp$']}
train:
  train_steps: 600
  gradient_accumulation_steps: 2
  max_grad_norm: 1.0
  save_step: 100
  scale_lr: false
  optimizer: {_target_: torch.optim.AdamW, weight_decay: 1e-3}
  scheduler: {name: constant_with_warmup, num_warmup_steps: 50, num_training_steps: "${train.train_steps}"}
model: {pretrained_model_name_or_path: org/sd, tokenizer_repeats: 1, ema_unet: 0}
data:
  one: {batch_size: 4}
  two: {batch_size: 2}
"""


def test_reads_what_the_file_says(reading):
    config = reading(READER, WHOLE)
    expected = {
        "train.task": "diffusion",
        "model.base": "org/sd",
        "adapter.method": "lora",
        "adapter.alpha": 4,
        "optim.lr": 1e-4,
        "optim.text_encoder_lr": 1e-5,
        "optim.name": "adamw",
        "optim.weight_decay": 1e-3,
        "optim.max_grad_norm": 1.0,
        "schedule.name": "constant_with_warmup",
        "schedule.warmup_steps": 50,
        "batch.micro": 6,
        "batch.accumulation": 2,
        "train.max_steps": 600,
        "train.seed": 3,
        "precision.fp16": True,
        "precision.bf16": False,
        "checkpoint.save_steps": 100,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert config.get("optim.lr").pointer == "/lora_unet/0/lr"
    assert config.get("adapter.rank").value == Unknown("the blocks of the adapter differ")
    assert config.get("train.epochs").origin == "absent"


@pytest.mark.parametrize("scaled", ["scale_lr: true", "workers: 2"])
def test_a_rate_that_the_batch_multiplies_is_unknown(reading, scaled):
    config = reading(READER, WHOLE.replace("scale_lr: false", scaled))
    assert isinstance(config.get("optim.lr").value, Unknown)
    assert isinstance(config.get("optim.text_encoder_lr").value, Unknown)


def test_a_rank_with_a_point_is_a_share(reading):
    config = reading(READER, WHOLE.replace("rank: 8", "rank: 0.5").replace("rank: 4", "rank: 0.5"))
    assert config.get("adapter.rank").value == Unknown("the rank is a share of each layer's outputs")


@pytest.mark.parametrize(
    ("blocks", "method"),
    [
        ("plugin_unet: {a: {_target_: lycoris.hcp.LokrBlock.wrap_model, dim: 8}}", "lokr"),
        ("plugin_unet: {a: {_target_: lycoris.hcp.LohaBlock.wrap_model}}\nplugin_TE:", "loha"),
        ("unet: [{lr: 1e-6, layers: ['']}]\nlora_unet: null", "full"),
        ("plugin_unet: {a: {_target_: hcpdiff.models.controlnet.ControlNetPlugin}}", None),
        ("plugin_unet: {a: {_target_: lycoris.hcp.LokrBlock.wrap_model}}\nunet: [{lr: 1e-6}]", None),
    ],
)
def test_what_the_blocks_are(reading, blocks, method):
    config = reading(READER, f"{blocks}\ntrain: {{train_steps: 5, save_step: 1}}\n")
    found = config.get("adapter.method").value
    assert found == method if method else isinstance(found, Unknown)
    assert config.get("adapter.rank").origin == "absent"


def test_what_is_absent_may_stand_in_a_base(reading):
    config = reading(READER, "_base_: [base.yaml]\ntrain: {train_steps: 5}\n")
    assert isinstance(config.get("optim.name").value, Unknown)
    assert config.get("train.max_steps").value == 5


def test_a_base_alone_is_no_run():
    assert detect(read_bytes(WHOLE.encode(), "a.yaml")) is not None
    parts = [line for line in WHOLE.splitlines() if not line.startswith(("lora_", "  - "))]
    assert detect(read_bytes("\n".join(parts).encode(), "a.yaml")) is None


@pytest.mark.parametrize("text", ["lora_unet: 3\n", "lora_unet: [a, 3]\ndata: [{}]\n", "plugin_unet: {a: 1}\ndata:\n"])
def test_odd_shapes_say_nothing(reading, text):
    config = reading(READER, text)
    assert config.get("adapter.method").origin == "absent"
    assert config.get("batch.micro").origin == "absent"
