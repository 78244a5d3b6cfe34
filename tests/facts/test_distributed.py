"""Processes, DeepSpeed's batch, and classes that FSDP is to wrap."""

from __future__ import annotations

import pytest

from loralint.model import Unknown

BATCH = {"batch.micro": 2, "batch.accumulation": 8}


@pytest.mark.parametrize(
    ("values", "world"),
    [
        ({"dist.launcher_processes": 8, "dist.launcher_nodes": 2}, 8),
        ({"dist.launcher_processes_per_node": 8, "dist.launcher_nodes": 2}, 16),
        ({"dist.launcher_processes_per_node": 4}, 4),
        ({"job.processes_per_node": 8, "job.nodes": 3}, 24),
    ],
)
def test_processes(fact, values, world) -> None:
    assert fact("dist.world", values) == world


def test_processes_that_nobody_counts(fact) -> None:
    assert fact("dist.world", {}) == ("no launch line or manifest says how many processes train",)
    hidden = {"dist.launcher_processes": 4, "dist.launcher_nodes": Unknown("later")}
    assert fact("dist.world", hidden) == 4


@pytest.mark.parametrize(
    ("values", "several"),
    [
        ({"dist.launcher_processes": 4}, True),
        ({"dist.launcher_processes": 1}, False),
        ({"dist.launcher_processes": 4, "dist.fsdp": True}, False),
        ({"dist.launcher_processes": 4, "dist.deepspeed": "ds.json"}, False),
        ({"dist.launcher_processes": 8, "dist.launcher_type": "NO"}, False),
        ({"dist.launcher_type": "MULTI_GPU"}, True),
        ({"dist.launcher_processes": 4, "dist.fsdp": Unknown("the script's own")}, True),
    ],
)
def test_copies_of_the_model(fact, values, several) -> None:
    assert fact("dist.several", values) is several


def test_the_batch_that_deepspeed_has_to_be_told(fact) -> None:
    assert fact("dist.batch", {**BATCH, "dist.launcher_processes": 4}) == 64
    assert fact("dist.local_batch", BATCH) == 16
    assert fact("dist.batch", {**BATCH, "dist.launcher_processes": 4, "dist.context_parallel": 2}) == (
        "processes share rows under tensor or sequence parallelism",
    )
    assert fact("dist.ds_local_batch", {"dist.ds_micro": 4, "dist.ds_accumulation": 3}) == 12


def test_processes_beyond_the_gpus_that_they_may_see(fact) -> None:
    assert fact("dist.visible_short", {"dist.launcher_processes": 4, "dist.visible_devices": 2}) == 2
    assert fact("dist.visible_short", {"dist.launcher_processes": 4, "dist.visible_devices": 8}) == 0
    two = {"dist.launcher_processes": 16, "dist.launcher_nodes": 2, "dist.visible_devices": 8}
    assert fact("dist.visible_short", two) == 0


@pytest.mark.parametrize(
    ("base", "wanted", "wrong", "right"),
    [
        ("meta-llama/Llama-2-7b-hf", "LlamaDecoderLayer", None, "LlamaDecoderLayer"),
        ("meta-llama/Llama-2-7b-hf", "LLaMADecoderLayer", "LLaMADecoderLayer", "LlamaDecoderLayer"),
        ("EleutherAI/pythia-6.9b", "LlamaDecoderLayer", "LlamaDecoderLayer", "GPTNeoXLayer"),
        (
            "Qwen/Qwen2.5-VL-7B-Instruct",
            "Qwen2_5_VLVisionBlock, Qwen2_5_VLDecoderLayer",
            None,
            "Qwen2_5_VLDecoderLayer",
        ),
        (
            "meta-llama/Llama-2-7b-hf",
            "LlamaDecoderLayer,MistralDecoderLayer",
            "MistralDecoderLayer",
            "LlamaDecoderLayer",
        ),
        ("meta-llama/Llama-2-7b-hf", "MyLayer", None, "LlamaDecoderLayer"),
        ("somebody/unheard-of", "LlamaDecoderLayer", None, None),
        (None, "LLaMADecoderLayer", "LLaMADecoderLayer", "LlamaDecoderLayer"),
    ],
)
def test_classes_to_wrap(fact, base, wanted, wrong, right) -> None:
    values = {"dist.fsdp_wrap_class": wanted} | ({"model.base": base} if base else {})
    assert fact("fsdp.wrong_class", values) == wrong
    assert fact("fsdp.right_class", values) == right
