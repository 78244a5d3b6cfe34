"""Claims about Adam, SGD, clipping, warm-up and the norm of the input."""

from __future__ import annotations

import random
from math import cos, isfinite, pi, sqrt

import pytest


def adam(gradients, *, rate=1.0, beta1=0.9, beta2=0.999, eps=1e-8):
    """The moves that Adam makes for these gradients of one weight."""
    mean = square = 0.0
    for step, gradient in enumerate(gradients, 1):
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient * gradient
        yield rate * (mean / (1 - beta1**step)) / (sqrt(square / (1 - beta2**step)) + eps)


def noise(count, seed=0):
    draw = random.Random(seed)
    return [draw.gauss(0, 1) for _ in range(count)]


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e6, 1e15])
def test_adams_first_step_is_the_rate_whatever_the_gradient(size):
    (move,) = adam([size], rate=2e-4)
    assert move == pytest.approx(2e-4, rel=1e-3)


def test_no_early_adam_step_is_far_larger_than_the_rate():
    for seed in range(200):
        assert max(abs(move) for move in adam(noise(50, seed))) < 1.5


@pytest.mark.parametrize("clip", [1.0, 0.3, 1e-3])
def test_a_constant_clip_cancels_in_adam(clip):
    raw = [5 + one for one in noise(200)]  # always above the clip
    clipped = [clip * one / 5 for one in raw]
    for one, other in zip(adam(raw), adam(clipped), strict=True):
        assert other == pytest.approx(one, rel=1e-3)


def test_a_clip_bounds_the_step_of_sgd():
    rate, clip = 0.1, 1.0
    for gradient in (2.0, 50.0, 1e9):
        assert rate * gradient * min(1, clip / gradient) == pytest.approx(rate * clip)


def test_a_clip_scales_and_keeps_the_direction():
    gradient = [3.0, -4.0]
    scaled = [min(1, 1.0 / 5.0) * one for one in gradient]
    assert scaled == pytest.approx([0.6, -0.8])
    assert scaled[0] / scaled[1] == pytest.approx(gradient[0] / gradient[1])


@pytest.mark.parametrize(("beta2", "most"), [(0.999, 3.16), (0.99, 1.0), (0.95, 0.45)])
def test_a_spike_after_a_quiet_history_moves_by_a_known_multiple(beta2, most):
    *_, move = adam([1e-3] * 10_000 + [1e6], beta2=beta2)
    assert move == pytest.approx(most, rel=0.01)


def test_a_clip_at_a_quantile_of_tensor_norms_shrinks_every_healthy_step():
    """224 tensors of one norm: their 0.98 quantile is that norm, the norm of all of them is sqrt(224) times it."""
    norms = [1.0] * 224
    quantile = sorted(norms)[int(0.98 * len(norms))]
    assert quantile / sqrt(sum(one * one for one in norms)) == pytest.approx(1 / sqrt(224))


def first_steps(size):
    """How far the output moves in the first step of SGD and of Adam for an input of this size (B = 0)."""
    a, g, rate = 0.3, 0.7, 1e-3
    hidden = a * size
    gradient = g * hidden
    return hidden * rate * gradient, hidden * rate * gradient / abs(gradient)


def test_ten_times_the_input_is_a_hundredfold_sgd_step_and_a_tenfold_adam_step():
    (sgd, adaptive), (sgd_10, adaptive_10) = first_steps(1), first_steps(10)
    assert sgd_10 / sgd == pytest.approx(100)
    assert adaptive_10 / adaptive == pytest.approx(10)


def toy_losses(rule, rate, size, steps=60):
    """y = b a x on a frozen base, rank 1, squared error, one input of this size."""
    a, b, x, target = 0.3, 0.0, size, 2.0
    moments = [[0.0, 0.0], [0.0, 0.0]]
    for step in range(1, steps + 1):
        error = b * a * x - target
        yield error * error / 2
        for index, gradient in enumerate((error * b * x, error * a * x)):
            mean, square = moments[index]
            mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient * gradient
            moments[index] = [mean, square]
            adaptive = (mean / (1 - 0.9**step)) / (sqrt(square / (1 - 0.999**step)) + 1e-8)
            move = rate * (gradient if rule == "sgd" else adaptive)
            a, b = (a - move, b) if index == 0 else (a, b - move)


@pytest.mark.parametrize("size", [1, 50, 200, 1e6])
def test_a_huge_input_does_not_make_adam_overflow(size):
    losses = list(toy_losses("adam", 1e-2, size))
    assert all(isfinite(loss) for loss in losses)
    assert max(losses) < 10 * size * size + 10  # linear in the input, never a chain reaction


def test_a_huge_input_does_make_sgd_overflow():
    assert not all(isfinite(loss) for loss in toy_losses("sgd", 1e-2, 200))
    assert all(isfinite(loss) for loss in toy_losses("sgd", 1e-2, 1))


def test_the_loss_of_step_0_does_not_know_the_rate():
    assert len({next(iter(toy_losses("adam", rate, 50))) for rate in (1e-6, 1.0, 1e30)}) == 1


def test_no_linear_map_can_stand_for_a_normalised_input():
    """A merged adapter is a matrix, and a matrix gives twice the output for twice the input."""
    a = [0.4, -0.2]

    def delta(x):
        norm = sqrt(sum(one * one for one in x))
        return sum(w * one / norm for w, one in zip(a, x, strict=True))

    assert delta([2.0, 6.0]) == pytest.approx(delta([1.0, 3.0]))


def test_rms_normalised_inputs_have_one_norm():
    for seed in range(5):
        x = [1000 * one for one in noise(64, seed)]
        rms = sqrt(sum(one * one for one in x) / len(x))
        assert sqrt(sum((one / rms) ** 2 for one in x)) == pytest.approx(sqrt(64))


@pytest.mark.parametrize(("decay", "steps", "share"), [(0.01, 1_000, 0.002), (0.01, 10_000, 0.02), (0.1, 1_000, 0.02)])
def test_weight_decay_takes_next_to_nothing(decay, steps, share, lora):
    weight = 1.0
    for _ in range(steps):
        weight *= 1 - 2e-4 * decay
    assert 1 - weight == pytest.approx(share, rel=0.02)
    told = lora("decay.total", optim__lr=2e-4, optim__weight_decay=decay, train__max_steps=steps)
    assert told == pytest.approx(1 - weight)


def test_a_restart_lets_the_rate_jump_a_hundredfold():
    low, high, period = 1e-6, 1e-4, 1000

    def rate(step):
        return low + (high - low) * (1 + cos(pi * (step % period) / period)) / 2

    assert rate(period) / rate(period - 1) == pytest.approx(100, rel=0.01)


def test_eps_cuts_the_step_of_gradients_of_its_own_size():
    for gradient, share in ((8e-7, 0.99), (5e-9, 0.33), (2e-9, 0.17)):
        (move,) = adam([gradient])
        assert move == pytest.approx(share, abs=0.01)
