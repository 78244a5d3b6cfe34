"""Values: NVIDIA, CUDA GPUs by compute capability; data sheets."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("gpu", "capability", "memory", "modern"),
    [
        ("T4", 7.5, 16, False),
        ("V100-SXM2-32GB", 7.0, 32, False),
        ("A100-80GBx8", 8.0, 80, True),
        ("RTX 4090", 8.9, 24, True),
        ("nvidia-h100-80gb-hbm3", 9.0, 80, True),
    ],
)
def test_what_a_gpu_can_do(fact, gpu, capability, memory, modern):
    values = {"run.gpu": gpu}
    assert fact("gpu.capability", values) == capability
    assert fact("gpu.memory_gib", values) == memory
    assert [fact(f"gpu.{what}", values) for what in ("bf16", "tf32", "flash2")] == [modern] * 3


def test_count_comes_from_the_text_or_from_a_field(fact):
    assert fact("gpu.count", {"run.gpu": "A100-80GBx8"}) == 8
    assert fact("gpu.count", {"run.gpu": "A100-80GB", "run.gpu_count": 2}) == 2
    assert fact("gpu.count", {"run.gpu": "A100-80GB"}) == ("the number of GPUs is unknown (give --gpu NAMExCOUNT)",)
    assert fact("batch.effective", {"run.gpu": "A100-80GBx8", "batch.micro": 2}) == 16


def test_a_name_that_leaves_the_memory_open(fact):
    assert fact("gpu.capability", {"run.gpu": "A100"}) == 8.0
    assert fact("gpu.memory_gib", {"run.gpu": "A100"}) == (
        "GPU `A100` is sold with 40 or 80 GiB: name the size with --gpu",
    )


def test_other_vendors_have_no_compute_capability(fact):
    assert fact("gpu.capability", {"run.gpu": "MI300X"}) is None
    assert fact("gpu.bf16", {"run.gpu": "MI300X"}) is True


@pytest.mark.parametrize("name", ["name", "capability", "bf16", "tf32", "flash2", "memory_gib"])
def test_reasons(fact, name):
    assert fact(f"gpu.{name}", {}) == ("no --gpu given",)
    assert fact(f"gpu.{name}", {"run.gpu": "RTX 9999"}) == ("GPU `RTX 9999` is not in the list",)
