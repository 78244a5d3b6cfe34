from __future__ import annotations

import random
import struct
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

BF16 = {"adapter.method": "lora", "adapter.rank": 16, "optim.name": "adamw_torch", "adapter.dtype": "bf16"}


# Shares that torch's AdamW leaves unmoved in bf16, measured; the formula is exact to half a percent.
MEASURED = [
    (4096, 5e-6, 0.87),
    (4096, 1e-5, 0.75),
    (4096, 2e-5, 0.50),
    (4096, 5e-5, 0.0),
    (768, 2e-5, 0.78),
    (768, 1e-4, 0.13),
]


@pytest.mark.parametrize(("n", "lr", "share"), MEASURED)
def test_bf16_shares_as_measured(fact, n, lr, share):
    assert fact("rounding.frozen_share", BF16 | {"model.hidden": n, "optim.lr": lr}) == pytest.approx(share, abs=6e-3)


def bf16(number):
    """The nearest bf16 number, ties to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


@pytest.mark.parametrize("n", [256, 768, 4096])
@pytest.mark.parametrize("lr", [2e-6, 1e-5, 3e-5, 1e-4, 3e-4])
def test_the_formula_agrees_with_rounding_every_update(fact, n, lr):
    draw = random.Random(0)
    entries = [bf16(draw.uniform(-1, 1) / sqrt(n)) for _ in range(5000)]
    stuck = sum(bf16(entry + draw.choice([-lr, lr])) == entry for entry in entries)
    formula = fact("rounding.frozen_share", BF16 | {"model.hidden": n, "optim.lr": lr})
    assert stuck / len(entries) == pytest.approx(formula, abs=0.025)


@pytest.mark.parametrize(("n", "limit"), [(4096, 3.06e-5), (2048, 6.2e-5), (768, 1.23e-4)])
def test_nothing_is_lost_above_half_the_widest_spacing(fact, n, limit):
    assert fact("rounding.frozen_share", BF16 | {"model.hidden": n, "optim.lr": limit}) == 0
    assert fact("rounding.frozen_share", BF16 | {"model.hidden": n, "optim.lr": limit * 0.98}) > 0


def test_fp16_is_eight_times_finer(fact):
    at = BF16 | {"model.hidden": 4096}
    coarse = fact("rounding.frozen_share", at | {"optim.lr": 1e-5})
    fine = fact("rounding.frozen_share", at | {"adapter.dtype": "fp16", "optim.lr": 1e-5 / 8})
    assert coarse == fine == 0.75
    assert fact("rounding.frozen_share", at | {"adapter.dtype": "fp16", "optim.lr": 1e-5}) == 0


def test_a_gaussian_start_counts_by_the_normal_distribution(fact):
    """Std 1/16; at lr 2e-5 entries from 2^-7 = 0.125 std on are stuck: 2 * (1 - Phi(0.125)) = 0.9005."""
    values = BF16 | {"adapter.init": "gaussian", "optim.lr": 2e-5}
    assert fact("rounding.frozen_share", values) == pytest.approx(0.9005, abs=1e-4)


@pytest.mark.parametrize(
    "change",
    [{"adapter.dtype": "fp32"}, {"adapter.dtype": None}, {"optim.compensated": True}],
)
def test_fp32_and_compensated_optimizers_lose_nothing_and_need_no_model(fact, change):
    assert fact("rounding.frozen_share", BF16 | {"optim.lr": 1e-6} | change) == 0


def test_pure_bf16_stores_the_adapter_in_bf16(fact):
    values = BF16 | {"adapter.dtype": None, "precision.pure_bf16": True, "optim.lr": 1e-5, "model.hidden": 4096}
    assert fact("rounding.frozen_share", values) == 0.75


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"adapter.dtype": "auto"}, "the dtype of the adapter weights is unknown"),
        ({"adapter.init": "pissa"}, "how large the entries of A start is unknown for init `pissa`"),
        ({"optim.lr": None}, "the config has no learning rate"),
    ],
)
def test_reasons(fact, change, reason):
    assert fact("rounding.frozen_share", BF16 | {"optim.lr": 1e-5, "model.hidden": 4096} | change) == (reason,)


def test_a_rate_that_moves_every_entry_of_any_model_needs_no_model(fact):
    """From 2^-13 = 1.22e-4 on, updates are at least half the spacing at 1/sqrt(256)."""
    assert fact("rounding.frozen_share", BF16 | {"optim.lr": 1.23e-4}) == 0
    assert fact("rounding.frozen_share", BF16 | {"optim.lr": 1.2e-4}) == ("the config names no base model",)


def test_no_lora_and_no_rate_sized_step_give_nothing(fact):
    assert fact("rounding.frozen_share", BF16 | {"adapter.method": "full"}) is None
    assert fact("rounding.frozen_share", BF16 | {"optim.name": "sgd", "optim.lr": 1e-5}) is None


@settings(deadline=None)
@given(st.floats(1e-9, 1e-2), st.floats(1, 1e3), st.integers(64, 20000), st.sampled_from(["bf16", "fp16"]))
def test_the_share_falls_with_the_rate(fact, lr, factor, n, dtype):
    at = BF16 | {"model.hidden": n, "adapter.dtype": dtype, "optim.lr": lr}
    low, high = fact("rounding.frozen_share", at), fact("rounding.frozen_share", at | {"optim.lr": lr * factor})
    assert 0 <= high <= low <= 1
