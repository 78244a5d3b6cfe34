"""Where a loss stands against its start and its best."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.watch.level import Level


def _after(values) -> Level:
    level = Level()
    for value in values:
        level.add(value)
    return level


def test_a_run_that_learns_never_stands_high():
    level = _after(2.0 * 0.98**step for step in range(200))
    assert not level.high
    assert level.start == pytest.approx(2.0, rel=0.05)
    assert level.best == pytest.approx(level.now)


def test_one_odd_batch_is_no_level():
    level = Level()
    for step in range(60):
        level.add(9.0 if step == 30 else 1.5)
        assert not level.high


def test_a_nat_above_the_start_and_staying_there_is_divergence():
    values = [1.6, 1.5, 1.55, 1.6, 1.5, *[2.7] * 5]
    level, seen = Level(), []
    for value in values:
        level.add(value)
        seen.append((level.high, level.diverged))
    assert seen.index((True, False)) == 7  # three of five are high
    assert seen[-1] == (True, True)
    assert level.says() == "stands at 2.7, and it began at 1.55"


def test_it_may_come_back():
    level = _after([1.5] * 10 + [4.0] * 4 + [1.5] * 4)
    assert not level.high
    assert not level.diverged


def test_a_run_that_breaks_at_its_second_step_is_held_against_its_first():
    level = _after([1.64, 11.8, 11.6, 11.2, 10.9, 10.8, 10.4])
    assert level.diverged
    assert level.start == 1.64


HOT = [4.74, 8.4, 11.9, 22.2, 17.6, 24.6, 24.6, 36.2, 21.6, 23.2]  # a real run, whose falls are the blow-up's own


def test_a_run_that_never_came_back_to_its_first_value_broke_however_it_scatters():
    level = _after([*HOT, 60.8, 30.0])
    assert (level.broke, level.start, level.diverged) == (True, 4.74, True)
    level = _after([*HOT, 60.8, 30.0, *[9.5, 9.8, 8.3, 10.6, 8.7] * 4])
    assert level.diverged
    level = _after([*HOT, 60.8, 30.0, *[5.5, 6.8, 5.3, 6.6, 4.7] * 4])
    assert not level.high


@pytest.mark.parametrize("at", range(1, 10))
def test_one_value_that_came_back_is_enough_not_to_have_broken_at_once(at):
    assert not _after([*HOT[:at], 6.0, *HOT[at + 1 :]]).broke


def test_an_easy_first_batch_among_noisy_ones_is_no_break():
    noise = random.Random(0)
    for _ in range(300):
        values = [noise.gauss(5.0, 1.0) for _ in range(60)]
        assert not _after([min(values), *values]).broke


def test_above_the_best_alone_is_told_apart():
    level = _after([8.0] * 5 + [8.0 - step * 0.5 for step in range(14)] + [1.0] * 5 + [4.0] * 8)
    assert level.worse_than_best
    assert not level.worse_than_start
    assert level.says() == "stands at 4, and its best was 1"


def test_small_losses_are_judged_by_their_own_size():
    """Those of diffusion lie near 0.1: 0.16 is scatter, 0.5 is five times too much."""
    assert not _after([0.1, 0.11, 0.09, 0.1, 0.1, *[0.16] * 10]).high
    assert _after([0.1, 0.11, 0.09, 0.1, 0.1, *[0.5] * 10]).diverged


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scatter", [0.05, 0.3, 1.0])
def test_scatter_is_no_divergence(seed, scatter):
    """Batches of one row, thousands of steps: the loss falls slowly under noise as large as it is itself."""
    draw = random.Random(seed)
    level = Level()
    for step in range(3000):
        level.add(max(0.01, 2.0 * math.exp(-step / 3000) + draw.gauss(0, scatter)))
        assert not level.diverged, step


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.integers(0, 9))
def test_only_the_shape_counts_where_losses_are_large(values, times):
    """Beyond some nats, losses that are so many times as large stand as high."""
    large = [value + 1e3 for value in values]
    one, other = _after(large), _after([value * 2**times for value in large])
    assert (one.worse_than_start, one.worse_than_best) == (other.worse_than_start, other.worse_than_best)
