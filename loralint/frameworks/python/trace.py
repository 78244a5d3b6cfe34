"""Following objects through a program: which calls made them, and which of them are the same model."""

from __future__ import annotations

import re

from loralint.frameworks.python.classes import Known, of
from loralint.source.script import Argument, Call, Thing

# methods of an object that give back that object, or one that shares everything with it
_SAME = frozenset({"to", "cuda", "cpu", "half", "bfloat16", "float", "train", "eval", "merge_and_unload", "unload",
                   "requires_grad_", "get_base_model"})  # fmt: skip
# methods of TrainingArguments that change it and give it back
SETS = frozenset({"set_training", "set_optimizer", "set_lr_scheduler", "set_dataloader", "set_evaluate", "set_save",
                   "set_logging", "set_testing", "set_push_to_hub"})  # fmt: skip
_INSIDE = frozenset({"base_model", "model", "module", "tokenizer"})
# functions that change their first argument in place, or wrap it, and give it back
_WRAPPERS = frozenset({"inject_adapter_in_model", "compile", "prepare_model", "for_training", "for_inference",
                       "cast_mixed_precision_params", "unwrap_model", "setup_chat_format", "prepare"})  # fmt: skip
_PUT_ON = frozenset({"wrap", "prepare", "load-adapter"})
_CONDITIONAL = re.compile(r"^\(?\s*None\s+if\b|\belse\s+None\s*\)?$")
_LONGEST = 100  # steps back; a loop over a model is no chain of its own


def last(call: Call) -> str:
    """The last part of a call's name."""
    return call.name.rpartition(".")[2]


def argument(call: Call, name: str, what: Known | None = None) -> Argument | None:
    """An argument by its keyword, or by the place that the signature gives it."""
    order = what.order if what is not None else ()
    return call.arg(name, order.index(name) if name in order else -1)


def earlier(thing: Thing) -> Thing | None:
    """The object that this one is another form of: the model inside a wrapper, or around it."""
    call = thing.made
    if call is None:
        return None
    name = last(call)
    inside = name == "__getattr__" and call.args[0].node.raw in _INSIDE
    if call.on is not None and (name in _SAME or name in SETS or inside):
        return call.on
    what = of(call)
    if name in _WRAPPERS or (what is not None and what.role in _PUT_ON):
        given = argument(call, "model", what) or call.arg("model", thing.place)
        return given.thing if given is not None else None
    return None


def root(thing: Thing, steps: int = _LONGEST) -> Thing:
    """The first object that all forms of one model come from; where branches leave several, what stands for them."""
    for _ in range(steps):
        if thing.either:
            first = {id(one): one for one in (root(other, steps // 2) for other in thing.either)}
            return next(iter(first.values())) if len(first) == 1 else thing
        before = earlier(thing)
        if before is None:
            return _loaded(thing)
        thing = before
    return thing


def _loaded(thing: Thing) -> Thing:
    """The model stands for all that a call gives back together: `model, tokenizer = ...from_pretrained(...)`."""
    what = of(thing.made) if thing.made is not None else None
    first = what is not None and what.role == "load" and thing.place == 0
    return thing.made.result if first and thing.made is not None else thing


def perhaps_none(given: Argument | None) -> bool:
    """Whether an argument is None under a condition that stands in it."""
    return given is not None and _CONDITIONAL.search(given.node.raw) is not None


def makers(thing: Thing | None, role: str, steps: int = _LONGEST) -> tuple[list[Call], bool]:
    """The calls of a role that an object comes from, and whether it comes from one of them whatever branch is taken."""
    for _ in range(steps):
        if thing is None:
            break
        if thing.either:
            several = [makers(other, role, steps // 2) for other in thing.either]
            found = {id(call): call for calls, _ in several for call in calls}
            return list(found.values()), all(sure for _, sure in several)
        what = of(thing.made) if thing.made is not None else None
        if what is not None and what.role == role and thing.made is not None:
            return [thing.made], True
        thing = earlier(thing)
    return [], False
