"""Schedules that are made for another number of steps than the loop lets them make."""

from __future__ import annotations

import ast

import pytest

from loralint.frameworks.python.paces import out_of_step

LOOP = """
scheduler = {made}
model, optimizer, loader{prepared} = accelerator.prepare(model, optimizer, loader{prepared})
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        {step}
        optimizer.zero_grad()
"""
COSINE = "get_cosine_schedule_with_warmup(optimizer, 10, {total})"


def told(total, prepared, step="scheduler.step()", made=COSINE, before="", more=""):
    names = ", scheduler" if prepared else ""
    text = before + LOOP.format(made=made.format(total=total), prepared=names, step=step) + more
    return [key for key, _, _ in out_of_step(ast.parse(text).body, text, 4)]


def test_batches_are_counted_where_one_in_four_makes_a_step():
    assert told("3 * len(loader)", prepared=True) == ["num_training_steps"]
    assert told("steps", prepared=True, before="each = len(loader)\nsteps = 3 * each\n") == ["num_training_steps"]


def test_steps_are_counted_where_each_batch_makes_one():
    assert told("3 * len(loader) // 4", prepared=False) == ["scheduler.step"]
    before = "steps = math.ceil(len(loader) / args.gradient_accumulation_steps)\n"
    assert told("steps", prepared=False, before=before) == ["scheduler.step"]


@pytest.mark.parametrize(
    ("total", "prepared"),
    [("3 * len(loader)", False), ("3 * len(loader) // 4", True), ("1000", True), ("args.steps", False)],
)
def test_the_same_are_counted_or_nobody_knows(total, prepared):
    assert told(total, prepared) == []


def test_what_is_not_told_of_is_what_may_be_otherwise():
    assert (
        told("3 * len(loader) // 4", False, step="if accelerator.sync_gradients:\n            scheduler.step()") == []
    )
    assert told("3 * len(loader) // world", prepared=False) == []
    assert told("3 * len(loader)", True, more="Accelerator(step_scheduler_with_optimizer=False)\n") == []
    assert told("len(loader)", True, made="build({total})") == []
    assert told("len(loader)", True, before="scheduler = None\n") == []
    assert told("len(loader)", True, more="accelerator.prepare(*others)\n") == []
