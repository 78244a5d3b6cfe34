"""A teacher with more or fewer words than its student: what either makes of a token cannot be laid side by side.

Sources: huggingface/trl@f2cd5770 trl/experimental/gkd/gkd_trainer.py (__init__; before, its loss failed at the first
step) and trl/experimental/distillation.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.loads import load_of
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.trace import argument, last
from loralint.frameworks.table import Look, Observation
from loralint.frameworks.vocabularies import ADVICE, told
from loralint.model import Value
from loralint.source.script import Argument, Script

_TAUGHT = frozenset({"GKDTrainer", "DistillationTrainer", "MiniLLMTrainer"})


def of_teachers(_script: Script, parts: Parts, _look: Look) -> Iterator[Observation]:
    """The teacher of a trainer whose loss lays both vocabularies side by side."""
    call = parts.trainer
    if call is None or last(call) not in _TAUGHT:
        return
    given = call.arg("teacher_model")
    student, teacher = _named(argument(call, "model", of(call))), _named(given)
    message = told(student, teacher)
    if given is None or not message:
        return
    key, span = f"{last(call)}.teacher_model", given.name_span or call.name_span
    where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
    yield Observation("rejected", where, "crash", message, data=ADVICE)


def _named(given: Argument | None) -> str:
    """The name of a model that is given by it, or loaded by it; "" for any other."""
    if given is None:
        return ""
    if given.node.tag == "str":
        return given.node.raw
    load = load_of(given.thing)
    name = load.arg("pretrained_model_name_or_path", 0) if load is not None else None
    return name.node.raw if name is not None and name.node.tag == "str" else ""
