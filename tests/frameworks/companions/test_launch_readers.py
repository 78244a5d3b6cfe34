"""What the options of launchers say of processes, devices and precision."""

from __future__ import annotations

import pytest

from loralint.frameworks.companions.environment import READER as VARIABLES
from loralint.frameworks.companions.environment import environment
from loralint.frameworks.detect import reader
from loralint.frameworks.read import read_layer
from loralint.frameworks.table import Layer, Look
from loralint.model import Value
from loralint.source.document import Document, Mark, Node, Pair


def options(launcher: str, **given: object) -> Layer:
    document = Document("run.sh", "flags", "")
    at = Mark(0, document.lines)
    pairs = [
        Pair(key, Node("scalar", "str", at, at, key), Node("scalar", "str", at, at, str(value), False, value))
        for key, value in given.items()
    ]
    look = Look(lambda field: Value(None, origin="absent", field=field), lambda _: False)
    return read_layer(environment(document, pairs), reader(f"launch.{launcher}") if launcher else VARIABLES, look)


@pytest.mark.parametrize(
    ("launcher", "given", "found"),
    [
        ("torchrun", {"nproc_per_node": "4", "nnodes": "2"},
         {"dist.launcher_processes_per_node": 4, "dist.launcher_nodes": 2}),
        ("torchrun", {"nproc_per_node": "gpu", "nnodes": "1:4"}, {}),
        ("deepspeed", {"num_gpus": "8"}, {"dist.launcher_processes_per_node": 8}),
        ("deepspeed", {"include": "localhost:4,5"}, {"dist.launcher_processes_per_node": 2}),
        ("deepspeed", {"include": "a:0@b:1"}, {}),
        ("accelerate", {"num_processes": "8", "num_machines": "2", "mixed_precision": "bf16"},
         {"dist.launcher_processes": 8, "dist.launcher_nodes": 2, "dist.launcher_precision": "bf16",
          "precision.bf16": True}),
        ("accelerate", {"mixed_precision": "no"}, {"dist.launcher_precision": "no"}),
        ("accelerate", {"use_deepspeed": True, "zero_stage": "3", "gradient_accumulation_steps": "4"},
         {"dist.launcher_type": "deepspeed", "dist.deepspeed": "accelerate's own", "dist.zero_stage": 3,
          "dist.ds_accumulation": 4, "dist.ds_clips": True}),
        ("accelerate", {"use_fsdp": True, "fsdp_transformer_layer_cls_to_wrap": "LlamaDecoderLayer"},
         {"dist.launcher_type": "fsdp", "dist.fsdp": True, "dist.fsdp_wrap_class": "LlamaDecoderLayer"}),
        ("accelerate", {"gpu_ids": "0,1"}, {"dist.visible_devices": 2}),
        ("accelerate", {"gpu_ids": "all"}, {}),
    ],
)  # fmt: skip
def test_options(launcher: str, given: dict[str, object], found: dict[str, object]) -> None:
    values = options(launcher, **given).values
    assert {field: several[0].value for field, several in values.items()} == {"dist.launcher": launcher, **found}


@pytest.mark.parametrize(("given", "launcher"), [("1", "torchrun"), ("TRUE", "torchrun"), ("0", None), ("on", None)])
def test_llamafactory_may_be_told_to_start_torchrun(given: str, launcher: str | None) -> None:
    values = options("", FORCE_TORCHRUN=given).values
    assert [one.value for one in values.get("dist.launcher", ())] == [launcher] * (launcher is not None)


def test_an_unknown_option_stops_the_launcher() -> None:
    observed = options("accelerate", num_proceses="2", num_mach="1").observations
    assert [(one.value.key, one.effect, one.replacement) for one in observed] == [
        ("num_proceses", "crash", "num_processes")
    ]
