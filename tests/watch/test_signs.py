"""What is a sign and, more so, what is none."""

from __future__ import annotations

import math
import random

import pytest

from loralint.watch.history import Record, history
from loralint.watch.signs import signs


def _found(**curves) -> list[tuple[str, str]]:
    """(kind, what it says) of curves given as lists with one value a step; None where nothing was logged."""
    extra = {name: curves.pop(name) for name in ("total", "every") if name in curves}
    every = extra.get("every", 1)
    length = max(map(len, curves.values()))
    rows = [
        {"step": every * (at + 1), **{name: values[at] for name, values in curves.items() if at < len(values)}}
        for at in range(length)
    ]
    told = history("log", "test", [Record(row, at + 1) for at, row in enumerate(rows)], extra.get("total"))
    return [(sign.kind, sign.says) for sign in signs(told)]


def _kinds(**curves) -> list[str]:
    return [kind for kind, _ in _found(**curves)]


GOOD = [2.0 * 0.97**step + 0.3 for step in range(60)]


def test_a_good_run_shows_nothing():
    warm = [0.1, 0.5, *[0.4] * 58]
    rates = [2e-4 * min(1, step / 6) * (1 - step / 60) for step in range(60)]
    assert _found(loss=GOOD, grad_norm=warm, learning_rate=rates, eval_loss=GOOD[::10], total=60) == []


def test_nan_in_the_loss_to_the_end():
    assert _found(loss=[2.0, 1.9, math.nan, math.nan]) == [("log-not-finite", "loss is nan from step 3 on")]


def test_nan_in_the_loss_that_passes_and_the_rest_is_judged():
    assert _found(loss=[2.0, math.inf, 1.9]) == [("log-was-not-finite", "loss is inf at step 2")]
    assert _kinds(loss=[1.5, 1.5, math.nan, *[1.5] * 5, *[9.0] * 8]) == ["log-was-not-finite", "log-diverging"]


def test_nan_in_the_evaluation():
    found = _found(loss=[2.0, 1.9, 1.8], eval_loss=[1.9, math.nan])
    assert ("log-not-finite", "eval_loss is nan from step 2 on") in found


def test_steps_that_fp16_skips_are_none():
    """Sixteen at the start, a few later, and the last one by chance."""
    norms = [math.inf] * 16 + [0.5] * 30 + [math.inf] + [0.5] * 12 + [math.nan]
    assert _found(loss=GOOD, grad_norm=norms) == []
    assert _found(loss=GOOD[:12], grad_norm=[math.inf] * 12) == []


def test_gradients_that_stay_infinite_are_one():
    norms = [0.5] * 30 + [math.nan] * 30
    assert _found(loss=GOOD, grad_norm=norms) == [("log-not-finite", "grad_norm is nan from step 31 on")]
    told = _found(loss=GOOD[:10], grad_norm=[0.5] * 4 + [math.nan] * 6, every=50)
    assert told == [("log-not-finite", "grad_norm is nan from step 250 on")]


def test_a_loss_of_exactly_zero_is_nan_that_the_trainer_hides():
    assert _found(loss=[1.9, 1.8, 0.0, 0.0, 0.0]) == [("log-loss-zero", "loss is exactly 0 from step 3 on")]
    assert _kinds(loss=[0.0] * 4, grad_norm=[math.nan] * 4) == ["log-loss-zero"]


def test_what_is_learnt_by_heart_comes_down_to_zero_by_and_by():
    losses = [round(2.0 * 0.7**step, 4) for step in range(60)]
    assert losses[-1] == 0
    assert _found(loss=losses, grad_norm=[0.4 * 0.8**step for step in range(60)]) == []


def test_the_loss_of_reinforcement_learning_is_not_judged():
    draw = random.Random(0)
    losses = [draw.gauss(0, 1e-3) if step > 4 else 0.0 for step in range(60)]
    assert _found(loss=losses, reward=GOOD, grad_norm=[0.1] * 60) == []
    assert _found(loss=[0.0] * 60, reward=GOOD, grad_norm=[0.1] * 60) == []
    assert _found(loss=GOOD, reward=[None] * 60) == []
    assert _kinds(loss=[0.0] * 60, reward=GOOD, grad_norm=[0.0] * 60) == ["log-frozen"]


def test_preference_losses_are_judged_as_others():
    assert _kinds(**{"loss": [0.69] * 10 + [3.0] * 10, "rewards/chosen": [0.1] * 20}) == ["log-diverging"]


def test_frozen():
    assert _kinds(loss=[2.0, 2.1, 1.9, 2.0, 2.1], grad_norm=[0.0] * 5) == ["log-frozen"]
    assert _found(loss=[0.6931] * 5) == [("log-frozen", "loss is 0.6931 at every step logged")]
    assert _found(loss=[2.0, 2.1, 1.9], grad_norm=[0.0] * 3) == []


def test_a_spike_that_passes():
    losses = [1.5 + 0.01 * (step % 3) - 0.002 * step for step in range(60)]
    assert _found(loss=losses) == []
    losses[30] = 8.0
    ((kind, says),) = _found(loss=losses)
    assert kind == "log-spike"
    assert says.startswith("loss jumps to 8 at step 31, from 1.4")
    assert says.endswith(", and comes back")


@pytest.mark.parametrize("seed", range(30))
def test_noise_is_no_sign(seed):
    """One row a batch: losses of rows differ as much as the run improves."""
    draw = random.Random(seed)
    losses = [max(0.02, draw.lognormvariate(0.3 - step / 400, 0.5)) for step in range(300)]
    norms = [draw.lognormvariate(-1, 0.6) for _ in range(300)]
    assert _found(loss=losses, grad_norm=norms, total=300) == []


def test_gradients_that_keep_growing():
    assert _kinds(loss=GOOD, grad_norm=[0.1 * 1.08**step for step in range(60)]) == ["log-gradient-growing"]
    assert _found(loss=GOOD, grad_norm=[min(2.0, 0.02 * step) for step in range(60)]) == []


def test_no_learning_takes_thirty_entries_and_a_third_of_the_run():
    flat = [1.2 + 0.02 * (step * 7 % 5 - 2) for step in range(60)]
    assert _kinds(loss=flat) == ["log-not-learning"]
    assert _found(loss=flat[:29]) == []
    assert _found(loss=flat, total=600) == []
    assert _found(loss=[value - 0.002 * step for step, value in enumerate(flat)]) == []


def test_a_fast_start_is_learning():
    assert _found(loss=[1.0, 0.8, 0.7, 0.66, 0.63, 0.61, *[0.6 + 0.01 * (step % 3) for step in range(60)]]) == []


def test_a_rate_of_zero():
    flat = [1.9 + 0.01 * (step % 3) for step in range(8)]
    assert _found(loss=flat, learning_rate=[0.0] * 8) == [
        ("log-rate-zero", "learning_rate is 0 at every step logged"),
    ]
    assert _found(loss=GOOD, learning_rate=[0.0] * 60) == []  # the log knows the first group only
    assert _found(loss=GOOD, learning_rate=[0.0, *[1e-4] * 58, 0.0], total=60) == []


def test_a_schedule_that_ends_early():
    rates = [1e-4] * 30 + [0.0] * 30
    found = _found(loss=GOOD, learning_rate=rates, total=60)
    assert found == [("log-rate-zero", "learning_rate is 0 from step 31 on, of 60 steps")]
    assert _found(loss=GOOD, learning_rate=rates) == []  # how long the run is to be is not known


def test_evaluation_that_gets_worse():
    assert _kinds(loss=GOOD, eval_loss=[1.5, 1.2, 1.3, 1.4, 1.5]) == ["log-eval-rising"]
    assert _found(loss=GOOD, eval_loss=[1.5, 1.2, 1.3, 1.4]) == []
    assert _found(loss=GOOD, eval_loss=[1.5, 1.2, 1.22, 1.21, 1.23, 1.22]) == []


@pytest.mark.parametrize("losses", [[], [1.0], [1.0, math.nan], [0.0], [-1.0, -1.5], [1e300, 1e-300], [math.inf] * 3])
def test_little_is_judged_without_a_fault(losses):
    assert isinstance(_found(loss=losses, grad_norm=losses, learning_rate=losses, eval_loss=losses or [1.0]), list)
