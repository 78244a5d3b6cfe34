from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

LR = {"optim.lr": 2e-4}


@pytest.mark.parametrize(
    ("schedule", "more", "end"),
    [
        ("constant", {}, 2e-4),
        ("constant_with_warmup", {}, 2e-4),
        ("linear", {}, 0.0),
        ("cosine", {}, 0.0),
        ("cosine", {"schedule.min_lr_ratio": 0.1}, 2e-5),
        ("cosine_with_min_lr", {"schedule.min_lr": 1e-6}, 1e-6),
        ("polynomial", {}, 1e-7),
    ],
)
def test_where_schedules_end(fact, schedule, more, end):
    assert fact("lr.end", LR | {"schedule.name": schedule} | more) == pytest.approx(end)


def test_an_unknown_end_has_its_reason(fact):
    assert fact("lr.end", LR | {"schedule.name": "rex"}) == ("where the schedule `rex` ends is unknown",)
    assert fact("lr.end", LR) == ("the config names no learning-rate schedule",)
    assert fact("lr.end", {"schedule.name": "constant"}) == ("the config has no learning rate",)


DECAY = LR | {"optim.name": "adamw_torch", "optim.weight_decay": 0.01, "train.max_steps": 1000}


@pytest.mark.parametrize(("decay", "steps", "total"), [(0.01, 1000, 0.002), (0.01, 10000, 0.0198), (0.1, 1000, 0.0198)])
def test_decay_adds_up(fact, decay, steps, total):
    """1 - (1 - 2e-6)^1000 = 0.2 %, 1 - (1 - 2e-6)^10000 = 1 - (1 - 2e-5)^1000 = 1.98 %."""
    values = DECAY | {"optim.weight_decay": decay, "train.max_steps": steps}
    assert fact("decay.total", values) == pytest.approx(total, rel=2e-3)


def test_no_decay_needs_no_length_and_decay_does(fact):
    values = DECAY | {"train.max_steps": None, "train.epochs": 1}
    assert fact("decay.total", values | {"optim.weight_decay": 0}) == 0
    assert fact("decay.total", values) == ("the number of training rows is unknown (give --rows)",)


def test_decay_of_self_chosen_rates_is_not_computed(fact):
    assert fact("decay.total", DECAY | {"optim.name": "prodigy"}) is None


def test_a_decay_beyond_all_takes_everything(fact):
    assert fact("decay.total", DECAY | {"optim.lr": 10, "optim.weight_decay": 10}) == 1


@settings(deadline=None)
@given(st.floats(1e-7, 1), st.floats(0, 1), st.integers(1, 10**6))
def test_decay_is_a_share(fact, lr, decay, steps):
    values = DECAY | {"optim.lr": lr, "optim.weight_decay": decay, "train.max_steps": steps}
    assert 0 <= fact("decay.total", values) <= 1
