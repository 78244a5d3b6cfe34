"""How many optimizer steps the run takes, and how many of them warm up."""

from __future__ import annotations

from math import ceil

from loralint.facts.need import Missing, known, number, optional, positive
from loralint.facts.scope import Scope, derived
from loralint.model import Value


def per_epoch(scope: Scope) -> Value:
    """Optimizer steps that one pass over the data takes, the last short one included unless it is dropped."""
    if known(scope, "data.packing") is True:
        raise Missing("rows are packed, so the number of steps depends on their lengths")
    rows = number(scope, "run.rows", "the number of training rows is unknown (give --rows)")
    batch = number(scope, "batch.effective")
    if batch < 1:
        raise Missing("the batch size is below 1")
    steps = rows // batch if known(scope, "batch.drop_last") is True else ceil(rows / batch)
    return derived(max(1, int(steps)))


def total(scope: Scope) -> Value:
    """Optimizer steps of the whole run: `max_steps` where it is positive, else by epochs."""
    most = optional(scope, "train.max_steps", 0)
    if most > 0:
        return derived(ceil(most))
    epochs = positive(scope, "train.epochs", "the config has neither epochs nor a number of steps")
    return derived(ceil(epochs * number(scope, "steps.per_epoch")))


def for_each_pass(scope: Scope) -> Value:
    """Steps that `max_steps` leaves for each pass over the data that is asked for as well."""
    most = positive(scope, "train.max_steps", "the config does not count its steps")
    return derived(most / positive(scope, "train.epochs", "the config asks for no number of passes"))


def unsaved(scope: Scope) -> Value:
    """Steps at the end of the run after the last one that falls on `save_steps`, below 1 a share of all steps."""
    steps, every = number(scope, "steps.total"), positive(scope, "checkpoint.save_steps", "no step count for saves")
    return derived(int(steps % (ceil(steps * every) if every < 1 else int(every))))


def warmup(scope: Scope) -> Value:
    """Optimizer steps over which the rate rises. A plain constant schedule has none, whatever the config asks for."""
    steps, share = _asked(scope)
    if steps or not share:
        return derived(int(steps))
    return derived(ceil(share * number(scope, "steps.total")))


def warmup_share(scope: Scope) -> Value:
    """Warm-up over all steps; needs the length of the run only where the config counts in steps."""
    steps, share = _asked(scope)
    if not steps:
        return derived(share)
    return derived(int(steps) / number(scope, "steps.total"))


def idle_share(scope: Scope) -> Value:
    """Share of all steps that come after the schedule's end; None where the config lets the run set its length."""
    if known(scope, "schedule.steps") is None:
        return derived(None)
    return derived(max(0.0, 1 - number(scope, "schedule.steps") / number(scope, "steps.total")))


def fraction_in_steps(scope: Scope) -> Value:
    """Whether the warm-up steps are a number below 1: a share since transformers 5, before it next to nothing."""
    return derived(0 < optional(scope, "schedule.warmup_steps", 0) < 1)


def _asked(scope: Scope) -> tuple[float, float]:
    """Warm-up in steps and as a share; steps win (transformers, TrainingArguments.get_warmup_steps)."""
    if known(scope, "schedule.name") == "constant":
        return 0, 0.0
    steps = optional(scope, "schedule.warmup_steps", 0)
    if steps >= 1:
        return steps, 0.0
    return 0, optional(scope, "schedule.warmup_ratio", 0.0) or max(0.0, steps)
