"""Attributes that are given to a config after it was made: `training_args.bf16 = False`."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.python.build import assignment
from loralint.frameworks.python.keywords import keywords
from loralint.frameworks.python.setters import chained, fields_set, is_setter
from loralint.frameworks.python.trace import last
from loralint.knowledge.data import part
from loralint.model import Span, Unknown
from loralint.source.document import Node, Pair
from loralint.source.script import Call, Script, Thing

# what the trainer reads only when it trains, so that it may still be set once the trainer is made
_READ_BY_TRAIN = frozenset({"learning_rate", "weight_decay", "lr_scheduler_type", "warmup_steps", "warmup_ratio",
                            "num_train_epochs", "max_grad_norm"})  # fmt: skip


def with_assigned(section: Pair, script: Script, made: Call, user: Call | None) -> Pair:
    """The section of a config with what the program gives its attributes later. user: the call that reads it."""
    given = dict(_given(script, made, user))
    if not given:
        return section
    node = section.value
    mapping = Node(node.kind, node.tag, node.start_mark, node.end_mark)
    mapping.pairs = [*(pair for pair in node.pairs if pair.key not in given), *given.values()]
    return section._replace(value=mapping)


def _given(script: Script, made: Call, user: Call | None) -> Iterator[tuple[str, Pair]]:
    """Each attribute with its last value. What is given in a branch, or once the config is in use, may count or not."""
    used = trained = False
    for call in script.calls:
        used = used or call is user
        trained = trained or (user is not None and call.on is user.result and last(call) == "train")
        for key, place, value in _set(call) if _is(call.on, made, user) else ():
            if _takes(last(made), key):
                late = used and (trained or key not in _READ_BY_TRAIN)
                why = "" if call.sure else f"`{key}` is set in a branch"
                why = why or (f"`{key}` is set when it is already in use" if late else "")
                yield key, _pair(place, key, value, why)


def _set(call: Call) -> Iterator[tuple[str, Span, Node]]:
    """The attributes that a call gives an object, each with its place."""
    if is_setter(call):
        yield from fields_set(call)
    elif call.name == "__setattr__" and len(call.args) == 2 and isinstance(key := call.args[0].node.native, str):
        yield key, call.name_span, call.args[1].node


def _is(thing: Thing | None, made: Call, user: Call | None) -> bool:
    """Whether an object is the config, also as what a method of it gives back, or as `trainer.args`."""
    thing = chained(thing)
    if thing is made.result:
        return True
    got = thing.made if thing is not None else None
    named = got is not None and got.name == "__getattr__" and got.args[0].node.native == "args"
    return named and user is not None and got is not None and got.on is user.result


def _takes(name: str, key: str) -> bool:
    """Whether a class has such a field; any other attribute means nothing to it, and is no fault."""
    return name not in part("keys-python")["classes"] or key in keywords(name)


def _pair(place: Span, key: str, value: Node, why: str) -> Pair:
    if why:
        value = Node("scalar", "unknown", value.start_mark, value.end_mark, value.raw, True, Unknown(why))
    return assignment(key, place, value)
