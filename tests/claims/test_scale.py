"""Claims about alpha, rank and the size of the step."""

from __future__ import annotations

import random
from math import pi, sqrt

import pytest

# Published supervised runs: alpha, rank, rate, hidden size.
PUBLISHED = [
    (32, 4, 2e-4, 1024),  # LoRA paper, GPT-2 medium
    (16, 64, 2e-4, 4096),  # QLoRA, 7B
    (16, 64, 1e-4, 8192),  # QLoRA, 65B
    (16, 64, 3e-4, 4096),  # Qwen
    (16, 8, 1e-4, 4096),  # LLaMA-Factory
    (16, 32, 2e-4, 4096),  # litgpt, Llama
    (16, 8, 3e-4, 4096),  # torchtune, Llama 8B
    (32, 8, 1e-4, 4096),  # llama-cookbook
    (16, 256, 2e-4, 2048),  # TRL, "LoRA without regret"
    (32, 32, 2.86e-4, 4096),  # Tinker, Llama 8B
]


def spread(numbers):
    return max(numbers) / min(numbers)


def rows(height, width, draw):
    return [[draw() for _ in range(width)] for _ in range(height)]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def test_published_configs_agree_on_e_and_p_and_not_on_alpha_over_r(lora):
    runs = [{"adapter__alpha": a, "adapter__rank": r, "optim__lr": lr, "model__hidden": n} for a, r, lr, n in PUBLISHED]
    assert spread([lora("lora.ratio", **run) for run in runs]) == 128
    assert spread([run["optim__lr"] * lora("lora.ratio", **run) for run in runs]) == 128
    assert spread([lora("lora.E", **run) for run in runs]) < 6
    assert spread([lora("lora.P", **run) for run in runs]) < 18


def test_alpha_twice_the_rank_is_not_what_most_published_configs_use():
    assert [alpha / rank for alpha, rank, _, _ in PUBLISHED].count(2) == 2


def test_rank_changed_with_alpha_at_twice_the_rank_changes_the_step(lora):
    steps = [lora("lora.E", adapter__alpha=2 * r, adapter__rank=r, optim__lr=2e-4) for r in (8, 64)]
    assert steps[1] == pytest.approx(8 * steps[0])


def test_rank_changed_at_a_fixed_alpha_leaves_the_step(lora):
    def run(rank):
        return {"adapter__alpha": 16, "adapter__rank": rank, "optim__lr": 2e-4, "model__hidden": 4096}

    for name in ("lora.E", "lora.P"):
        assert lora(name, **run(256)) == pytest.approx(lora(name, **run(4)))


@pytest.mark.parametrize("rank", [16, 64])
def test_first_adam_step_is_0_46_e_whatever_the_rank(rank):
    """One token, B = 0: every entry of B moves by the rate, with the sign that fits, so the moves add up."""
    n, alpha, rate, draw = 256, 16, 2e-4, random.Random(0)
    ratios = []
    for _ in range(20):
        a = rows(rank, n, lambda: draw.uniform(-1, 1) / sqrt(n))
        x = [draw.gauss(0, 1) for _ in range(n)]
        moved = alpha / rank * rate * sum(abs(one) for one in times(a, x))
        ratios.append(moved / (alpha * rate * sqrt(sum(one * one for one in x) / n)))
    assert sum(ratios) / len(ratios) == pytest.approx(sqrt(2 / pi) / sqrt(3), rel=0.1)  # 0.46


def test_published_usual_ranks_and_alphas_lie_in_the_usual_range_of_e(lora):
    for rank, alpha in ((8, 16), (16, 32)):
        assert 1.6e-3 < lora("lora.E", adapter__alpha=alpha, adapter__rank=rank, optim__lr=2e-4) < 1e-2


def test_rslora_multiplies_the_step_by_the_root_of_the_rank(lora):
    run = {"adapter__alpha": 16, "adapter__rank": 64, "optim__lr": 2e-4, "model__hidden": 4096}
    for name in ("lora.E", "lora.P"):
        assert lora(name, **run, adapter__rslora=True) == pytest.approx(8 * lora(name, **run))


def test_loraplus_without_a_lower_rate_multiplies_both_steps(lora):
    run = {"adapter__alpha": 32, "adapter__rank": 32, "optim__lr": 2e-4, "model__hidden": 4096}
    for name, plain, plus in (("lora.E", 6.4e-3, 0.10), ("lora.P", 5.2e-3, 0.084)):
        assert lora(name, **run) == pytest.approx(plain, rel=0.02)
        assert lora(name, **run, adapter__loraplus_ratio=16) == pytest.approx(plus, rel=0.03)


def test_full_fine_tuning_rates_give_a_fraction_of_the_step(lora):
    def step(rate):
        return lora("lora.E", adapter__alpha=16, adapter__rank=8, optim__lr=rate)

    assert step(2e-4) / step(5e-6) == pytest.approx(40)
    assert step(5e-6) < step(1e-5) < 4e-4  # below the range of published supervised runs


@pytest.mark.parametrize("scale", [0.5, 1, 2, 8])
def test_backward_pass_has_the_scale_exactly_once(scale):
    """L = |s B A x - t|^2 / 2; central differences are exact for a quadratic but for rounding."""
    draw = random.Random(1)
    a, b = rows(2, 3, draw.random), rows(2, 2, draw.random)
    x, target = [0.3, -0.7, 0.9], [0.2, -0.4]

    def loss():
        out = times(b, times(a, x))
        return sum((scale * y - t) ** 2 for y, t in zip(out, target, strict=True)) / 2

    def slope(matrix, i, j):
        kept, h = matrix[i][j], 1e-4
        matrix[i][j] = kept + h
        above = loss()
        matrix[i][j] = kept - h
        below = loss()
        matrix[i][j] = kept
        return (above - below) / (2 * h)

    hidden = times(a, x)
    error = [scale * y - t for y, t in zip(times(b, hidden), target, strict=True)]
    for i in range(2):
        for j in range(2):
            assert slope(b, i, j) == pytest.approx(scale * error[i] * hidden[j], abs=1e-9)
        back = sum(b[k][i] * error[k] for k in range(2))
        for j in range(3):
            assert slope(a, i, j) == pytest.approx(scale * back * x[j], abs=1e-9)


def test_twice_the_scale_is_a_fourfold_sgd_step_and_a_twofold_adam_step():
    """B = 0 and one entry: the gradient of B is s g h; the output moves by s h times the move of B."""
    g, h, rate = 0.37, 1.3, 1e-3

    def sgd(s):
        return s * h * rate * (s * g * h)

    def adam(s):
        gradient = s * g * h
        return s * h * rate * gradient / abs(gradient)

    assert sgd(2) / sgd(1) == pytest.approx(4)
    assert adam(2) / adam(1) == pytest.approx(2)
