"""FSDP as a program puts it around its model by hand."""

from __future__ import annotations

from loralint.frameworks.python.loads import switch
from loralint.frameworks.python.owners import numbers
from loralint.frameworks.python.trace import last, makers
from loralint.source.script import Argument, Call

# policies that wrap whole blocks; others may put what trains and what does not into wrappers of their own
_WHOLE = ("transformer_auto_wrap_policy", "size_based_auto_wrap_policy")


def flattened(call: Call) -> tuple[tuple[int, ...], dict[str, object]] | None:
    """(the model's numbers, whether an adapter is on it) where FSDP joins all parameters of a block; else None."""
    if last(call) != "FullyShardedDataParallel" or call.on is not None or call.open:
        return None
    if switch(call.arg("use_orig_params"), False) is not False or not _by_blocks(call.arg("auto_wrap_policy", 3)):
        return None
    if any(one.name.startswith("ignored_") for one in call.args):
        return None
    model = call.arg("module", 0)
    thing = model.thing if model is not None else None
    return numbers(thing), {"wrapped": bool(makers(thing, "wrap")[0])}


def _by_blocks(given: Argument | None) -> bool:
    """Whether a policy is one of those that wrap whole blocks, with its keywords given by functools.partial."""
    made = given.thing.made if given is not None and given.thing is not None else None
    if given is None or made is None:
        return given is not None and given.node.raw.endswith(_WHOLE)
    inner = made.args[0].node if made.name == "functools.partial" and made.args else None
    return inner is not None and inner.raw.endswith(_WHOLE)
