"""Claims about how A and B start."""

from __future__ import annotations

import random
from math import sqrt

import pytest


def gradients(a, b, x, target):
    """Of (b . (a x) - t)^2 / 2 for a of two rows and one output."""
    hidden = [sum(w * v for w, v in zip(row, x, strict=True)) for row in a]
    error = sum(w * h for w, h in zip(b, hidden, strict=True)) - target
    return [[error * w * v for v in x] for w in b], [error * h for h in hidden]


def train(a, b, steps, rate=0.1):
    x, target = [1.0, -0.5], 0.8
    for _ in range(steps):
        of_a, of_b = gradients(a, b, x, target)
        a = [[w - rate * g for w, g in zip(row, row_g, strict=True)] for row, row_g in zip(a, of_a, strict=True)]
        b = [w - rate * g for w, g in zip(b, of_b, strict=True)]
    return a, b


ZERO = [[0.0, 0.0], [0.0, 0.0]]
RANDOM = [[0.5, -0.2], [0.1, 0.4]]


def test_two_zero_factors_never_leave_zero():
    a, b = train(ZERO, [0.0, 0.0], 200)
    assert a == ZERO
    assert b == [0.0, 0.0]


def test_b_at_zero_leaves_the_base_and_trains():
    of_a, of_b = gradients(RANDOM, [0.0, 0.0], [1.0, -0.5], 0.8)
    assert of_a == ZERO  # A waits for B
    assert any(of_b)
    _, b = train(RANDOM, [0.0, 0.0], 5)
    assert any(b)


def test_the_usual_start_is_uniform_with_a_third_of_the_variance_bound():
    """Kaiming with a = sqrt(5) over n inputs: bound sqrt(6 / ((1 + 5) n)) = 1/sqrt(n), std 1/sqrt(3n)."""
    n, draw = 64, random.Random(0)
    bound = sqrt(2 / (1 + 5)) * sqrt(3 / n)
    assert bound == pytest.approx(1 / sqrt(n))
    sample = [draw.uniform(-bound, bound) for _ in range(20_000)]
    assert sqrt(sum(w * w for w in sample) / len(sample)) == pytest.approx(1 / sqrt(3 * n), rel=0.02)
    assert 1 / sqrt(3 * n) == pytest.approx(0.072, abs=1e-3)


@pytest.mark.parametrize(("rank", "factor"), [(4, 24), (16, 6), (128, 0.75)])
def test_a_gaussian_start_multiplies_the_first_step_and_leaves_the_product(lora, rank, factor):
    run = {"adapter__alpha": rank, "adapter__rank": rank, "optim__lr": 1e-4, "model__hidden": 3072}
    assert lora("lora.E", **run, adapter__init="gaussian") == pytest.approx(factor * lora("lora.E", **run))
    assert lora("lora.P", **run, adapter__init="gaussian") == pytest.approx(lora("lora.P", **run))


@pytest.mark.parametrize("bias", [0.0, 0.3, -2.0])
def test_the_loss_is_a_saddle_at_b_zero_with_and_without_a_frozen_bias(bias):
    """(w x + bias + b a x - t)^2 / 2 at b = 0, in a and b: the diagonal entry of a is 0, the off-diagonal is not."""
    w, x, a, target = 0.4, 1.5, 0.6, 1.0
    error = w * x + bias - target
    of_aa, of_ab, of_bb = 0.0, error * x, (a * x) ** 2
    smallest = (of_aa + of_bb) / 2 - sqrt(((of_aa - of_bb) / 2) ** 2 + of_ab**2)
    assert smallest < 0
