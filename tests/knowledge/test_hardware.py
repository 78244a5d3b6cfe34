"""GPU names: right values, spellings, counts, and no guessing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.knowledge.data import part
from loralint.knowledge.hardware import gpu, key, parse_gpus


@pytest.mark.parametrize(
    ("text", "memory", "capability", "bf16", "fp8"),
    [
        ("T4", 16, 7.5, False, False),
        ("V100-32GB", 32, 7.0, False, False),
        ("RTX 2080 Ti 11GB", 11, 7.5, False, False),
        ("A100-80GB", 80, 8.0, True, False),
        ("RTX 3090", 24, 8.6, True, False),
        ("L4", 24, 8.9, True, True),
        ("RTX 4090", 24, 8.9, True, True),
        ("H100-SXM", 80, 9.0, True, True),
        ("H200", 141, 9.0, True, True),
        ("RTX 5090", 32, 12.0, True, True),
    ],
)
def test_nvidia_values(text: str, memory: float, capability: float, bf16: bool, fp8: bool) -> None:
    found = gpu(text)
    assert found is not None
    assert (found.vendor, found.memory_gib, found.compute_capability) == ("nvidia", memory, capability)
    assert (found.bf16, found.tf32, found.flash_attention_2, found.fp8) == (bf16, bf16, bf16, fp8)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Tesla-T4", "T4"),
        ("nvidia-tesla-t4", "T4"),
        ("nvidia-tesla-v100", "V100"),
        ("Tesla-V100-SXM2-32GB", "V100-32GB"),
        ("NVIDIA-A100-SXM4-80GB", "A100-80GB"),
        ("NVIDIA A100 80GB PCIe", "A100-80GB"),
        ("NVIDIA-A100-PCIE-40GB", "A100-40GB"),
        ("nvidia-a100-80gb", "A100-80GB"),
        ("nvidia-l4", "L4"),
        ("NVIDIA-A10G", "A10G"),
        ("NVIDIA-H100-80GB-HBM3", "H100-80GB"),
        ("nvidia-h100-mega-80gb", "H100-80GB"),
        ("NVIDIA H100 NVL", "H100-94GB"),
        ("NVIDIA-GeForce-RTX-4090", "RTX 4090"),
        ("NVIDIA GeForce GTX 1080 Ti", "GTX 1080 Ti"),
        ("geforce_rtx_3060_ti", "RTX 3060 Ti"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("Quadro RTX 6000", "Quadro RTX 6000"),
        ("NVIDIA RTX A6000", "RTX A6000"),
        ("AMD Instinct MI300X OAM", "MI300X"),
        ("tpu-v5-lite-podslice", "TPU v5e"),
        ("Apple M3 Max", "M3"),
    ],
)
def test_spellings(text: str, name: str) -> None:
    found = gpu(text)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("T4", "T4", None),
        ("A100-80GBx8", "A100-80GB", 8),
        ("A100-80GB x 8", "A100-80GB", 8),
        ("8xH100", "H100", 8),
        ("4 x RTX 4090", "RTX 4090", 4),
        ("2*L40S", "L40S", 2),
        ("H100:8", "H100", 8),
        ("MI300X", "MI300X", None),
        ("MI300Xx8", "MI300X", 8),
        ("0xT4", "T4", None),
    ],
)
def test_counts(text: str, name: str, count: int | None) -> None:
    found, counted = parse_gpus(text)
    assert found is not None
    assert (found.name, counted) == (name, count)


@pytest.mark.parametrize("text", ["", "gpu", "RTX 6000", "A1000000", "H1000", "T44", "100", "x", "auto", "4090x"])
def test_unknown_names_stay_unknown(text: str) -> None:
    assert parse_gpus(text)[0] is None


def test_a_count_before_an_unknown_name_is_still_known() -> None:
    assert parse_gpus("8xFuture9000") == (None, 8)


def test_a_name_sold_in_two_sizes_leaves_memory_open() -> None:
    found = gpu("A100")
    assert found is not None
    assert (found.memory_gib, found.memory_options) == (None, (40.0, 80.0))
    assert (found.compute_capability, found.bf16) == (8.0, True)


def test_a_mig_slice_has_the_memory_of_the_slice() -> None:
    found = gpu("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb")
    assert found is not None
    assert (found.memory_gib, found.compute_capability) == (5.0, 8.0)
    assert found.name == "A100-40GB MIG 1g.5gb"
    assert gpu(found.name) == found


def test_time_sharing_changes_nothing_but_the_label() -> None:
    assert gpu("Tesla-T4-SHARED") == gpu("T4")


def test_a_laptop_gpu_shares_the_architecture_only() -> None:
    found = gpu("NVIDIA GeForce RTX 4090 Laptop GPU")
    assert found is not None
    assert (found.compute_capability, found.memory_gib, found.bf16) == (8.9, None, True)


def test_what_is_not_certain_is_unknown() -> None:
    apple, mi50, mi300 = gpu("M1"), gpu("MI50"), gpu("MI300X")
    assert apple is not None
    assert mi50 is not None
    assert mi300 is not None
    assert (apple.bf16, apple.compute_capability) == (None, None)
    assert (mi50.bf16, mi300.bf16, mi300.flash_attention_2) == (None, True, True)


def test_there_are_many_and_each_key_finds_its_own() -> None:
    data = part("hardware")
    assert len(data["gpus"]) >= 60
    assert len({row["name"] for row in data["gpus"]}) == len(data["gpus"])
    for row in data["gpus"]:
        found = gpu(row["name"])
        assert found is not None
        assert found.name == row["name"]
        assert key(row["name"]) in data["keys"]


@given(st.one_of(st.text(), st.from_regex(r"[0-9]{0,9} ?[xX:*]? ?[A-Za-z0-9 -]{0,30}[xX:*]? ?[0-9]{0,9}")))
def test_parsing_never_raises(text: str) -> None:
    found, count = parse_gpus(text)
    assert count is None or count > 0
    assert found is None or found.name


@given(st.sampled_from([row["name"] for row in part("hardware")["gpus"]]), st.integers(1, 9999))
def test_counts_on_either_side_mean_the_same(name: str, count: int) -> None:
    assert parse_gpus(f"{count} x {name}") == parse_gpus(f"{name} x {count}") == (gpu(name), count)
