"""Batch, steps and warm-up: they are one calculation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.model import Unknown

BATCH = {"batch.micro": 2, "batch.accumulation": 4}
EPOCHS = BATCH | {"train.epochs": 3, "run.rows": 1000}


def test_batch_counts_devices_and_assumes_one(fact, whole):
    assert fact("batch.effective", BATCH) == 8
    assert whole("batch.effective", BATCH).source == "one device assumed"
    assert fact("batch.effective", BATCH | {"run.gpu_count": 4, "run.gpu": "T4"}) == 32
    assert fact("batch.effective", BATCH | {"gpu.count": 8, "dist.tensor_parallel": 4}) == 16


def test_a_global_batch_is_what_it_says(fact):
    assert fact("batch.effective", BATCH | {"batch.global": 64, "gpu.count": 8}) == 64


def test_batch_reasons(fact):
    assert fact("batch.effective", {}) == ("the config has no batch size",)
    assert fact("batch.effective", {"batch.micro": "auto"}) == ("batch.micro is not a usable number",)
    assert fact("batch.effective", BATCH | {"batch.accumulation": Unknown("set by ${N}")}) == ("set by ${N}",)


def test_steps_by_epochs(fact):
    """1000 / 8 = 125 steps a pass."""
    assert fact("steps.per_epoch", EPOCHS) == 125
    assert fact("steps.total", EPOCHS) == 375
    assert fact("steps.total", EPOCHS | {"train.epochs": 0.5}) == 63


def test_a_short_last_batch_counts_unless_dropped(fact):
    assert fact("steps.per_epoch", EPOCHS | {"run.rows": 1001}) == 126
    assert fact("steps.per_epoch", EPOCHS | {"run.rows": 1007, "batch.drop_last": True}) == 125
    assert fact("steps.per_epoch", EPOCHS | {"run.rows": 3, "batch.drop_last": True}) == 1


def test_max_steps_wins_when_positive(fact):
    assert fact("steps.total", EPOCHS | {"train.max_steps": 60}) == 60
    assert fact("steps.total", EPOCHS | {"train.max_steps": -1}) == 375
    assert fact("steps.total", {"train.max_steps": 60}) == 60


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"run.rows": None}, "the number of training rows is unknown (give --rows)"),
        ({"data.packing": True}, "rows are packed, so the number of steps depends on their lengths"),
        ({"train.epochs": None}, "the config has neither epochs nor a number of steps"),
        ({"train.epochs": 0}, "train.epochs is not above 0"),
        ({"batch.micro": 0}, "the batch size is below 1"),
    ],
)
def test_steps_reasons(fact, change, reason):
    assert fact("steps.total", EPOCHS | change) == (reason,)


@pytest.mark.parametrize(
    ("asked", "steps", "share"),
    [
        ({}, 0, 0),
        ({"schedule.warmup_ratio": 0.1}, 38, 0.1),  # 37.5 rounded up
        ({"schedule.warmup_steps": 75}, 75, 0.2),
        ({"schedule.warmup_steps": 75, "schedule.warmup_ratio": 0.1}, 75, 0.2),  # steps win
        ({"schedule.warmup_steps": 0, "schedule.warmup_ratio": 0.1}, 38, 0.1),
        ({"schedule.warmup_steps": 0.03}, 12, 0.03),  # 11.25 rounded up
        ({"schedule.warmup_steps": 750}, 750, 2.0),
        ({"schedule.warmup_steps": 75, "schedule.name": "constant"}, 0, 0),
    ],
)
def test_warmup(fact, asked, steps, share):
    values = EPOCHS | {"schedule.name": "cosine"} | asked
    assert fact("steps.warmup", values) == steps
    assert fact("steps.warmup_share", values) == pytest.approx(share)


def test_warmup_needs_the_length_only_where_it_must(fact):
    rows = ("the number of training rows is unknown (give --rows)",)
    ratio, steps = {"schedule.warmup_ratio": 0.1, "train.epochs": 1}, {"schedule.warmup_steps": 10, "train.epochs": 1}
    assert fact("steps.warmup_share", ratio | BATCH) == 0.1
    assert fact("steps.warmup", ratio | BATCH) == rows
    assert fact("steps.warmup", steps | BATCH) == 10
    assert fact("steps.warmup_share", steps | BATCH) == rows
    assert fact("steps.warmup", BATCH) == 0


@pytest.mark.parametrize(("steps", "fraction"), [(0.03, True), (0, False), (1, False), (100, False), (None, False)])
def test_a_fraction_written_as_steps_is_told(fact, steps, fraction):
    assert fact("schedule.fraction_in_steps", {"schedule.warmup_steps": steps}) is fraction


@settings(deadline=None)
@given(st.integers(1, 10**7), st.integers(1, 64), st.integers(1, 64), st.integers(1, 16))
def test_an_epoch_covers_all_rows_and_no_step_more(fact, rows, micro, accumulation, devices):
    values = {"run.rows": rows, "batch.micro": micro, "batch.accumulation": accumulation, "gpu.count": devices}
    steps, batch = fact("steps.per_epoch", values), fact("batch.effective", values)
    assert (steps - 1) * batch < rows <= steps * batch


def test_what_a_run_outlasts_its_schedule_by(fact):
    def idle(steps, total=1000):
        return fact("schedule.idle_share", {"schedule.steps": steps, "train.max_steps": total})

    assert idle(None) is None
    assert idle(250) == 0.75
    assert idle(1000) == idle(2000) == 0.0
    assert isinstance(fact("schedule.idle_share", {"schedule.steps": 100, "train.epochs": 1}), tuple)


def test_rows_that_all_devices_take_at_once(fact):
    assert fact("batch.at_once", {"batch.micro": 4, "batch.accumulation": 8}) == 4
    assert fact("batch.at_once", {"batch.micro": 4, "gpu.count": 8}) == 32
    assert fact("batch.at_once", {"batch.micro": 4, "gpu.count": 8, "dist.world": 2}) == 8
    assert fact("batch.at_once", {"batch.micro": 4, "dist.world": 8, "dist.context_parallel": 2}) == 16
    assert fact("batch.at_once", {}) == ("the config has no batch size",)


def test_steps_for_each_pass_that_is_asked_for(fact):
    assert fact("steps.for_each_pass", {"train.max_steps": 10, "train.epochs": 20}) == 0.5
    assert fact("steps.for_each_pass", {"train.epochs": 3}) == ("the config does not count its steps",)


@pytest.mark.parametrize(
    ("steps", "every", "left"), [(950, 100, 50), (1000, 100, 0), (80, 100, 80), (1000, 0.15, 100), (1000, 0.1, 0)]
)
def test_steps_after_the_last_save(fact, steps, every, left):
    assert fact("steps.unsaved", {"steps.total": steps, "checkpoint.save_steps": every}) == left
