"""Conversions of TrainingArguments' values, on their own."""

from __future__ import annotations

import pytest

from loralint.canonical.fields import FIELDS
from loralint.frameworks.readers import llamafactory, trl
from loralint.frameworks.readers.training_arguments import (
    TRAINING_ARGUMENTS,
    count,
    fsdp_classes,
    share,
    strategy,
    switched_on,
    trackers,
    writable_share,
    zero_stage,
)
from loralint.frameworks.table import SKIP


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("ds_z3_offload.json", 3),
        ("configs/zero2.json", 2),
        ("deepspeed/ds_config_zero_1.json", 1),
        ("stage-3.json", 3),
        ("ds_config.json", SKIP),
        ("blitz3.json", SKIP),
        ("zero30.json", SKIP),
        ({"zero_optimization": {}}, SKIP),
    ],
)
def test_stage_by_name(name, stage) -> None:
    assert zero_stage(name) is stage or zero_stage(name) == stage


@pytest.mark.parametrize(
    ("written", "steps", "part"), [(0.1, SKIP, 0.1), (10, 10, SKIP), (10.0, 10.0, SKIP), (0, 0, SKIP), (0.0, 0.0, SKIP)]
)
def test_warmup_is_a_count_or_a_share(written, steps, part) -> None:
    assert count(written) == steps
    assert share(written) == part


@pytest.mark.parametrize(("ratio", "written"), [(0.03, 0.03), (0, 0), (1, SKIP), ("", SKIP), (True, SKIP)])
def test_only_shares_below_one_can_be_written(ratio, written) -> None:
    assert writable_share(ratio) == written


def test_words_and_lists() -> None:
    assert strategy(False) == "no"
    assert strategy("STEPS") == "steps"
    assert [switched_on(one) for one in ("full_shard auto_wrap", ["full_shard"], True, "", [], None, False)] == [
        True, True, True, False, False, False, False,
    ]  # fmt: skip
    assert fsdp_classes(["A", "B"]) == "A"
    assert fsdp_classes("A") == "A"
    assert fsdp_classes([]) is SKIP
    assert [trackers(one) for one in ("none", [], "wandb", ["wandb"])] == [[], [], ["wandb"], ["wandb"]]


def test_every_row_is_of_a_canonical_field() -> None:
    assert {row.field for row in TRAINING_ARGUMENTS} <= set(FIELDS)


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("load_best_model_at_end: true", "checkpoint.metric", "loss"),
        ("load_best_model_at_end: true", "checkpoint.greater_is_better", False),
        ("metric_for_best_model: accuracy", "checkpoint.greater_is_better", True),
        ("metric_for_best_model: eval_loss", "checkpoint.greater_is_better", False),
        ("", "checkpoint.metric", None),
        ("eval_strategy: steps\nlogging_steps: 25", "eval.steps", 25),
        ("eval_strategy: epoch", "eval.steps", None),
    ],
)
def test_defaults_that_follow_from_other_values(reading, lines, field, value) -> None:
    from loralint.frameworks.readers.transformers import READER

    assert reading(READER, f"output_dir: out\n{lines}\n").get(field).value == value


@pytest.mark.parametrize(("release", "reentrant"), [("4.57.6", True), ("5.24.0", False)])
def test_reentrant_checkpointing_by_release(reading, release, reentrant) -> None:
    from loralint.frameworks.readers.transformers import READER

    config = reading(READER, "output_dir: out\ngradient_checkpointing: true\n", pins={"transformers": release})
    assert config.get("memory.reentrant").value is reentrant


@pytest.mark.parametrize("reader", [trl.READER, llamafactory.READER])
@pytest.mark.parametrize(
    ("kwargs", "told"),
    [
        ("", True),
        ("lr_scheduler_kwargs:\n", True),
        ("lr_scheduler_kwargs: {num_cycles: 0.5}\n", True),
        ("lr_scheduler_kwargs: {min_lr: 1.0e-6}\n", False),
        ("lr_scheduler_kwargs:\n  min_lr_rate: 0.1\n", False),
        ("lr_scheduler_kwargs: '{\"min_lr\": 1e-6}'\n", False),
    ],
)
def test_a_schedule_to_a_floor_needs_one(reading, observed, reader, kwargs, told) -> None:
    found = observed(reading(reader, "output_dir: out\nlr_scheduler_type: cosine_with_min_lr\n" + kwargs))
    assert [(key, one.effect) for key, one in found.items()] == [("lr_scheduler_type", "crash")] * told


@pytest.mark.parametrize("reader", [trl.READER, llamafactory.READER])
@pytest.mark.parametrize(
    ("schedule", "kwargs", "told"),
    [
        ("cosine", "{num_cycles: 0.5}", []),
        ("cosine", "{min_lr: 1.0e-6}", ["min_lr"]),
        ("cosine_with_min_lr", "{min_lr: 1.0e-6, eta_min: 0}", ["eta_min"]),
        ("constant", "{any: 1}", []),
    ],
)
def test_a_schedule_takes_its_own_keywords(reading, observed, reader, schedule, kwargs, told) -> None:
    text = f"output_dir: out\nlr_scheduler_type: {schedule}\nlr_scheduler_kwargs: {kwargs}\n"
    found = observed(reading(reader, text))
    assert {key: one.effect for key, one in found.items()} == {f"lr_scheduler_kwargs.{key}": "crash" for key in told}
