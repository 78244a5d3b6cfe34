"""The optimizer and the schedule that a trainer is handed, which count and not those that its arguments name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from loralint.frameworks.python.classes import known, of
from loralint.frameworks.python.trace import last
from loralint.source.document import Node
from loralint.source.script import Argument, Call, Script

# methods of the trainer that make them, which a class of the program's own may replace
_MAKES = re.compile(r"def (create_optimizer(?:_and_scheduler)?|get_optimizer_cls_and_kwargs)\b")
_ATTRIBUTES = frozenset({"optimizer", "create_optimizer", "create_optimizer_and_scheduler"})


def optimizer_of(trainer: Call, later: Sequence[Call], script: Script, reasons: dict[str, str]) -> Call | None:
    """The call that makes the optimizer which the trainer is handed.

    later: the calls on this trainer. reasons: gets why nobody knows what "optimizer" or "schedule" is, or whether the
    arguments' "rate" counts.
    """
    own = _maker(script.text)
    if own or any(map(_puts, later)):
        reasons["rate"] = f"`{own or 'optimizer'}` of the program's own may set another one"
    both, named = trainer.arg("optimizers"), trainer.arg("optimizer_cls_and_kwargs")
    if named is not None and named.node.tag != "null":
        return _described(trainer, named, reasons)
    if both is None or both.node.tag == "null":
        return None
    optimizer, schedule = both.node.items if len(both.node.items) == 2 else (both.node, both.node)
    if schedule.tag != "null":
        reasons["schedule"] = "the program makes the schedule itself"
    return _made(optimizer, script, reasons) if optimizer.tag != "null" else None


@lru_cache(maxsize=1)  # asked by each trainer of a program
def _maker(text: str) -> str:
    found = _MAKES.search(text)
    return found[1] if found is not None else ""


def _puts(call: Call) -> bool:
    """Whether a call on the trainer gives it an optimizer of its own."""
    return call.name == "__setattr__" and call.args[0].node.native in _ATTRIBUTES


def _made(given: Node, script: Script, reasons: dict[str, str]) -> Call | None:
    """The call whose result stands here, where its class is known and all parameters get one rate."""
    place = script.document.span(given)
    here = (call for call in script.calls if (call.span.file, call.span.start) == (place.file, place.start))
    found = [call for call in here if (what := of(call)) is not None and what.role == "optimizer"]
    if len(found) == 1 and not _grouped(found[0]):
        return found[0]
    reasons["optimizer"] = "the program makes the optimizer itself"
    return None


def _grouped(call: Call) -> bool:
    """Whether groups of parameters bring rates of their own."""
    given = call.arg("params", 0)
    return given is not None and any(item.pair("lr") is not None for item in given.node.items if item.kind == "mapping")


def _described(trainer: Call, given: Argument, reasons: dict[str, str]) -> Call | None:
    """The call that a class and a dictionary of its keywords stand for."""
    items = given.node.items
    what = known(items[0].raw) if len(items) == 2 and items[0].tag == "name" else None
    if what is None or what.role != "optimizer" or items[1].kind != "mapping":
        reasons["optimizer"] = f"`{given.name}` of {last(trainer)} is known only when the program runs"
        return None
    keywords = tuple(Argument(pair.key, pair.value) for pair in items[1].pairs)
    place = trainer.name_span
    return Call(items[0].raw, None, keywords, place, place, False, trainer.sure, trainer.result)
