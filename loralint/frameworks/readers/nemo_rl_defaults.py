"""What NeMo-RL makes of keys that no file of a recipe has: most are required, and have no default at all.

Sources: NVIDIA-NeMo/RL v0.7.0 nemo_rl/algorithms/{sft,dpo}.py, whose classes have defaults since that release (those of
the other algorithms have none in it), models/automodel/setup.py; torch 2.11 optim/adamw.py and optim/adam.py; Automodel
components/_peft/lora.py (PeftConfig).
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.lookup import find
from loralint.frameworks.table import SKIP, Look, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document, Node

BY_TASK: dict[str, dict[str, object]] = {
    "train.epochs": {"sft": 1, "dpo": 1},
    "train.max_steps": {"sft": 60, "dpo": 150},
    "train.seed": {"sft": 42, "dpo": 42},
    "eval.steps": {"sft": 10, "dpo": 25},
    "eval.strategy": {"sft": "steps", "dpo": "steps"},
    "pref.beta": {"dpo": 0.05},
}
_ADAM = {"optim.lr": 1e-3, "optim.weight_decay": 0, "optim.beta1": 0.9, "optim.beta2": 0.999, "optim.eps": 1e-8}
_TORCH: dict[str, dict[str, object]] = {"adamw": {**_ADAM, "optim.weight_decay": 0.01}, "adam": {**_ADAM}}
FIELDS = tuple(_TORCH["adamw"])
_SCHEDULER = "policy.scheduler"


def by_task(field: str) -> Callable[[Look], object]:
    """What an algorithm's own class has for a field."""
    return lambda look: BY_TASK[field].get(str(look.get("train.task").value), SKIP)


def by_optimizer(field: str) -> Callable[[Look], object]:
    """What the optimizer that `policy.optimizer` names has for a keyword that it is not given."""

    def answer(look: Look) -> object:
        name = look.get("optim.name")
        return _TORCH.get(str(name.value), {}).get(field, SKIP) if name.key.startswith("policy.optimizer.") else SKIP

    return answer


def of_adapter(answer: object) -> Callable[[Look], object]:
    """What Automodel's adapter has; that of Megatron wants its size and has nothing else of ours."""

    def given(look: Look) -> object:
        method = look.get("adapter.method")
        return answer if method.value == "lora" and method.key.startswith("policy.dtensor_cfg.") else SKIP

    return given


def on_dtensor(answer: object) -> Callable[[Look], object]:
    """What holds where `policy.optimizer` is the one that counts."""
    return lambda look: answer if look.get("optim.name").key.startswith("policy.optimizer.") else SKIP


def with_scheduler(document: Document, values: Values) -> Values:
    """A schedule of torch's own classes, which is not worked out: without one the rate stays as it is."""
    root: Node | None = document.root
    pair = find(root, _SCHEDULER) if root is not None else None
    if pair is None or pair.value.tag == "null":
        return {}
    why = Unknown("what `policy.scheduler` makes of the rate is not worked out")
    made = Value(why, "set", _SCHEDULER, span=document.span(pair.value))
    fields = ("schedule.name", "schedule.warmup_steps")
    return {field: (made._replace(field=field), *values.get(field, ())) for field in fields}
