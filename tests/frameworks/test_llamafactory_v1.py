"""LLaMA-Factory v1: nested plugin configs with defaults of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loralint.frameworks.read import read_layer
from loralint.frameworks.readers.llamafactory_v1 import READER
from loralint.frameworks.table import Look
from loralint.model import Observation, Unknown, Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import Versions
from loralint.source.read import read_file

LORA = "model: some/model\ntrain_dataset: data.yaml\npeft_config:\n  name: lora\n"
Reading = Callable[[str], Config]


@pytest.fixture
def run(tmp_path: Path) -> Reading:
    """Read a text as LLaMA-Factory 0.9.5 would under USE_V1=1."""

    def read(text: str) -> Config:
        file = tmp_path / "train.yaml"
        file.write_text(text, encoding="utf-8")
        versions = Versions("llamafactory", {"llamafactory": "0.9.5", "transformers": "5.2.0"})
        look = Look(lambda field: Value(None, origin="absent", field=field), versions.satisfy)
        return Config(READER, (read_layer(read_file(str(file), "train.yaml"), READER, look),), Options(), versions)

    return read


def seen(config: Config) -> dict[str, Observation]:
    """Give the observations by key."""
    return {one.value.key: one for one in config.layers[0].observations}


def test_defaults_differ_from_the_flat_file(run: Reading) -> None:
    config = run(LORA)
    defaults = {
        "adapter.rank": 8,
        "adapter.alpha": 16,
        "adapter.dropout": 0.05,
        "adapter.targets": "all-linear",
        "adapter.dtype": "fp32",
        "quant.bits": 16,
        "optim.lr": 1e-4,
        "optim.weight_decay": 0.01,
        "schedule.name": "constant",
        "batch.micro": 1,
        "batch.accumulation": 1,
        "train.epochs": 3,
        "precision.bf16": True,
        "model.attention": "sdpa",
        "memory.gradient_checkpointing": True,
        "memory.reentrant": False,
        "checkpoint.save_strategy": "no",
        "train.enabled": True,
    }
    assert {field: config.get(field).value for field in defaults} == defaults
    assert config.reader.name == "llamafactory"
    assert isinstance(config.get("train.task").value, Unknown)
    assert not seen(config)


def test_without_a_plugin_everything_is_trained(run: Reading) -> None:
    config = run("model: some/model\ntrain_dataset: data.yaml\n")
    assert config.get("adapter.method").value == "full"
    assert config.get("adapter.rank").origin == "absent"


def test_nested_values_are_read_in_place(run: Reading) -> None:
    config = run(LORA + "  r: 16\n  lora_alpha: 32\n  target_modules: [q_proj, v_proj]\nmicro_batch_size: 2\n")
    rank = config.get("adapter.rank")
    assert (rank.value, rank.key, rank.pointer) == (16, "peft_config.r", "/peft_config/r")
    assert rank.span is not None
    assert rank.span.line == 5
    assert [item.value for item in config.get("adapter.targets").items] == ["q_proj", "v_proj"]


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        (LORA + "  target_modules: all\n", "adapter.targets", "all-linear"),
        (LORA + "  target_modules: q_proj,v_proj\n", "adapter.targets", ["q_proj,v_proj"]),
        (LORA + "  r: '16'\n", "adapter.rank", 16),
        (LORA + "  use_dora: 'false'\n", "adapter.dora", False),
        ("quant_config:\n  name: bnb\n", "quant.bits", 4),
        ("quant_config:\n  name: auto\n", "quant.bits", 16),
        ("quant_config:\n  name: auto\n  quantization_bit: 8\n", "quant.method", "bnb"),
        ("quant_config:\n  name: bnb\n", "quant.compute_dtype", "fp16"),
        ("quant_config:\n  name: bnb\n  compute_dtype: bfloat16\n", "quant.storage_dtype", "bf16"),
        ("quant_config:\n  name: bnb\n  quantization_bit: 8\n", "quant.type", None),
        ("dist_config:\n  name: fsdp2\n", "dist.fsdp_version", 2),
        ("dist_config:\n  name: deepspeed\n  config_file: ds_z3_config.json\n", "dist.zero_stage", 3),
        ("global_batch_size: 32\n", "batch.accumulation", None),
        ("save_epochs: 0.5\n", "checkpoint.saves_per_epoch", 2.0),
        ("save_epochs: 0.5\n", "checkpoint.save_strategy", "steps"),
        ("batching_strategy: dynamic_padding_free\n", "data.padding_free", True),
        ("optim_config:\n  name: muon\n", "optim.weight_decay", None),
        ("kernel_config:\n  name: liger_kernel\n", "kernel.liger", True),
        (LORA + "  adapter_name_or_path: a\n  export_dir: out\n", "train.enabled", False),
        ("model: m\nsample_backend: hf\n", "train.enabled", False),
    ],
)
def test_reading(run: Reading, text: str, field: str, value: object) -> None:
    config = run(text)
    assert config.get(field).value == value
    assert not seen(config)


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("adapter.alpha", 32, ("peft_config.lora_alpha", 32)),
        ("adapter.targets", ["q_proj"], ("peft_config.target_modules", ["q_proj"])),
        ("adapter.targets", "all-linear", ("peft_config.target_modules", "all")),
        ("adapter.targets", ".*q_proj", None),
        ("quant.compute_dtype", "bf16", ("quant_config.compute_dtype", "bfloat16")),
        ("data.padding_free", True, ("batching_strategy", "padding_free")),
        ("data.datasets", ["a", "b"], None),
        ("checkpoint.saves_per_epoch", 4, ("save_epochs", 0.25)),
        ("optim.weight_decay", 0.1, None),
        ("memory.reentrant", True, None),
    ],
)
def test_writing(run: Reading, field: str, value: object, written: object) -> None:
    assert run(LORA).write(field, value) == written


def test_unknown_keys_stop_the_start_at_the_top_and_are_dropped_inside(run: Reading) -> None:
    faults = seen(run("learning_rat: 1.0e-4\npeft_config:\n  name: lora\n  lora_alhpa: 32\n  lora_rank: 8\n"))
    assert (faults["learning_rat"].effect, faults["learning_rat"].replacement) == ("crash", "learning_rate")
    assert (faults["peft_config.lora_alhpa"].effect, faults["peft_config.lora_alhpa"].replacement) == (
        "lost",
        "lora_alpha",
    )
    assert faults["peft_config.lora_rank"].effect == "lost"


def test_words_of_the_flat_file_are_rejected(run: Reading) -> None:
    faults = seen(run("flash_attn: fa2\nlr_scheduler_config:\n  name: cosine\n"))
    assert (faults["flash_attn"].kind, faults["flash_attn"].effect) == ("rejected", "crash")
    assert faults["lr_scheduler_config.name"].effect == "crash"


def test_numbers_in_quotes_stay_text_only_at_the_top(run: Reading) -> None:
    faults = seen(run("learning_rate: '1e-4'\npeft_config:\n  name: lora\n  r: '16'\n"))
    assert set(faults) == {"learning_rate"}
