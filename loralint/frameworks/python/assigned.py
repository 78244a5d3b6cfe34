"""Attributes that are given to a config after it was made: `training_args.bf16 = False`."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.python.build import assignment
from loralint.frameworks.python.keywords import keywords
from loralint.frameworks.python.trace import last
from loralint.knowledge.data import part
from loralint.model import Unknown
from loralint.source.document import Node, Pair
from loralint.source.script import Call, Script


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
    used = False
    for call in script.calls:
        used = used or call is user
        if call.name != "__setattr__" or call.on is not made.result or len(call.args) != 2:
            continue
        key, value = call.args[0].node.native, call.args[1].node
        if isinstance(key, str) and _takes(last(made), key):
            why = "" if call.sure else f"`{key}` is set in a branch"
            why = why or (f"`{key}` is set when it is already in use" if used else "")
            yield key, _pair(call, key, value, why)


def _takes(name: str, key: str) -> bool:
    """Whether a class has such a field; any other attribute means nothing to it, and is no fault."""
    return name not in part("keys-python")["classes"] or key in keywords(name)


def _pair(call: Call, key: str, value: Node, why: str) -> Pair:
    if why:
        value = Node("scalar", "unknown", value.start_mark, value.end_mark, value.raw, True, Unknown(why))
    return assignment(key, call.name_span, value)
