"""Claims about fp16 and bf16, by rounding numbers as the formats do."""

from __future__ import annotations

import struct
from math import sqrt

import pytest


def bf16(number):
    """The nearest bf16 number, ties to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def fp16(number):
    """The nearest fp16 number; struct.error where the largest is passed."""
    return struct.unpack("<e", struct.pack("<e", number))[0]


def test_fp16_ends_at_65504_and_bf16_as_far_as_fp32():
    assert fp16(65504) == 65504
    with pytest.raises(struct.error):
        fp16(65520)
    assert bf16(1e38) == pytest.approx(1e38, rel=2**-8)


def test_fp16_resolves_a_thousandth_and_bf16_eight_times_less():
    assert fp16(1 + 2**-10) == 1 + 2**-10 == pytest.approx(1 + 9.77e-4)
    assert fp16(1 + 1e-4) == 1
    assert bf16(1 + 2**-7) == 1 + 2**-7
    assert bf16(1 + 2**-9) == 1


def test_adams_epsilon_is_zero_in_fp16_and_the_first_step_of_a_is_0_over_0():
    """B = 0, so A's gradient is exactly zero, and with it both moments."""
    assert fp16(1e-8) == 0
    assert fp16(1e-7) > 0
    assert bf16(1e-8) > 0
    gradient_of_a = 0.0
    with pytest.raises(ZeroDivisionError):  # IEEE arithmetic gives NaN here
        gradient_of_a / (sqrt(gradient_of_a) + fp16(1e-8))


def test_squares_of_small_gradients_underflow_in_fp16():
    assert fp16(1e-4 * 1e-4) == 0
    assert fp16(65504 / 2) * 2 == 65504


@pytest.mark.parametrize(
    ("n", "rate", "share"),
    [(4096, 1e-5, 0.75), (4096, 2e-5, 0.5), (4096, 5e-5, 0), (768, 1e-4, 0.13)],
)
def test_bf16_rounds_small_steps_of_a_away(lora, n, rate, share):
    entries = [bf16((k + 0.5) / 20_000 / sqrt(n)) for k in range(20_000)]
    stuck = sum(bf16(entry - rate) == entry for entry in entries) / len(entries)
    assert stuck == pytest.approx(share, abs=0.01)
    told = lora("rounding.frozen_share", adapter__rank=16, adapter__dtype="bf16", model__hidden=n, optim__lr=rate)
    assert told == pytest.approx(stuck, abs=0.01)


def test_small_steps_stay_lost_however_often_they_are_made():
    weight = start = bf16(0.01)
    for _ in range(1000):
        weight = bf16(weight - 1e-5)
    assert weight == start


@pytest.mark.parametrize(("shrink", "acts"), [(2e-6, False), (1e-3, False), (4e-3, True)])
def test_weight_decay_below_a_500th_is_rounded_away_in_bf16(shrink, acts):
    entries = [bf16(0.01 + k * 1e-5) for k in range(2000)]
    assert any(bf16(entry * (1 - shrink)) != entry for entry in entries) is acts


@pytest.mark.parametrize(("gpu", "has"), [("V100", False), ("T4", False), ("A100", True), ("L4", True)])
def test_bf16_goes_by_the_card(lora, gpu, has):
    assert lora("gpu.bf16", run__gpu=gpu) is has
    assert (lora("gpu.capability", run__gpu=gpu) >= 8.0) is has
