"""Methods of TrainingArguments that set several of its fields at once, those that they are not given among them.

Source: transformers 5.24.0 training_args.py (set_training, set_optimizer, set_lr_scheduler, set_dataloader).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.python.build import text_at
from loralint.frameworks.python.trace import SETS, last
from loralint.model import Span, Unknown
from loralint.source.document import Node
from loralint.source.script import Call, Thing

# method -> its parameters in order: (name, field, what it is reset to)
_SETTERS: dict[str, tuple[tuple[str, str, object], ...]] = {
    "set_training": (
        ("learning_rate", "learning_rate", 5e-5), ("batch_size", "per_device_train_batch_size", 8),
        ("weight_decay", "weight_decay", 0), ("num_epochs", "num_train_epochs", 3), ("max_steps", "max_steps", -1),
        ("gradient_accumulation_steps", "gradient_accumulation_steps", 1), ("seed", "seed", 42),
        ("gradient_checkpointing", "gradient_checkpointing", False),
    ),
    "set_optimizer": (
        ("name", "optim", "adamw_torch"), ("learning_rate", "learning_rate", 5e-5), ("weight_decay", "weight_decay", 0),
        ("beta1", "adam_beta1", 0.9), ("beta2", "adam_beta2", 0.999), ("epsilon", "adam_epsilon", 1e-8),
        ("args", "optim_args", None),
    ),
    "set_lr_scheduler": (
        ("name", "lr_scheduler_type", "linear"), ("num_epochs", "num_train_epochs", 3), ("max_steps", "max_steps", -1),
        ("warmup_steps", "warmup_steps", 0),
    ),
    "set_dataloader": (("train_batch_size", "per_device_train_batch_size", 8),),
}  # fmt: skip
_RATIO = ("set_lr_scheduler", "warmup_ratio")  # until 5.0, before warmup_steps


def is_setter(call: Call) -> bool:
    """Whether a call is one of these methods."""
    return call.on is not None and last(call) in _SETTERS


def chained(thing: Thing | None) -> Thing | None:
    """The object behind such methods: `args` of `args.set_training(...).set_optimizer(...)`."""
    while thing is not None and thing.made is not None and last(thing.made) in SETS and thing.made.on is not None:
        thing = thing.made.on
    return thing


def fields_set(call: Call) -> Iterator[tuple[str, Span, Node]]:
    """Each field with its place and what it becomes."""
    if (given := call.arg(_RATIO[1])) is not None and last(call) == _RATIO[0]:
        yield _RATIO[1], given.name_span or call.name_span, given.node
    for place, (name, field, reset) in enumerate(_SETTERS[last(call)]):
        given = call.arg(name, place)
        if given is not None:
            yield field, given.name_span or call.name_span, given.node
        else:
            yield field, call.name_span, _reset(call, reset)


def _reset(call: Call, value: object) -> Node:
    node = text_at(str(value), call.name_span)
    tag = {bool: "bool", int: "int", float: "float", str: "str"}.get(type(value), "null")
    native = Unknown(f"`{last(call)}` gets more than can be seen here") if call.open else value
    return Node("scalar", "unknown" if call.open else tag, node.start_mark, node.end_mark, node.raw, False, native)
