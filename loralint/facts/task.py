"""Which rates and batches the task is to be judged by."""

from __future__ import annotations

from loralint.facts.need import text
from loralint.facts.scope import Scope, derived
from loralint.model import Value

_GROUPS = {
    "sft": ("sft", "pt"),  # the same next-token loss, on answers or on everything
    "preference": ("dpo", "kto", "orpo", "simpo", "ipo", "cpo"),
    "rl": ("ppo", "grpo", "rloo"),
}


def group(scope: Scope) -> Value:
    """sft, preference, rl, or other for a reward model, a classifier, distillation."""
    task = text(scope, "train.task", "the config does not say what it trains for").lower()
    return derived(next((name for name, tasks in _GROUPS.items() if task in tasks), "other"))
