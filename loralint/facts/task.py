"""Which rates and batches the task is to be judged by."""

from __future__ import annotations

from loralint.facts.need import Missing, known
from loralint.facts.scope import Scope, derived
from loralint.model import Value

_GROUPS = {
    "sft": ("sft", "pt"),  # the same next-token loss, on answers or on everything
    "preference": ("dpo", "kto", "orpo", "simpo", "ipo", "cpo"),
    "rl": ("ppo", "grpo", "rloo"),
}


def group(scope: Scope) -> Value:
    """sft, preference, rl, or other for a reward model, a classifier, distillation."""
    task = known(scope, "train.task")
    if task is None:
        raise Missing("the config does not say what it trains for")
    return derived(next((name for name, tasks in _GROUPS.items() if str(task).lower() in tasks), "other"))
