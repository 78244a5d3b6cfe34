"""Virtual tokens whose encoder PEFT does not save, and a trainer that loads them back.

A checkpoint holds what the encoder made of them. A prefix with a projection has another shape than what it makes.
Source: peft 0.21.2 utils/save_and_load.py (get_peft_model_state_dict, set_peft_model_state_dict), run here.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.trace import last
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.script import Argument, Call, Script

_BEST = "load_best_model_at_end"
_RESUME = "resume_from_checkpoint"


def of_virtual(script: Script, parts: Parts, _: Look) -> Iterator[Observation]:
    """Observe a projected prefix that is to be gone on from, or whose best checkpoint is wanted."""
    config = parts.adapter
    projected = config.arg("prefix_projection") if config is not None else None
    if config is None or last(config) != "PrefixTuningConfig" or projected is None or parts.trainer is None:
        return
    if projected.node.native is not True:
        return
    best = parts.arguments.arg(_BEST) if parts.arguments is not None else None
    if best is not None and parts.arguments is not None and best.node.native is True:
        yield _told(parts.arguments, _BEST, best, "at the end, as the best checkpoint is loaded")
    for call in script.calls:
        given = call.arg(_RESUME, 0) if last(call) == "train" and call.on is parts.trainer.result else None
        if given is not None and (given.node.native is True or given.node.tag == "str"):
            yield _told(call, _RESUME, given, "as the checkpoint is loaded")


def _told(call: Call, name: str, given: Argument, what: str) -> Observation:
    key = f"{last(call)}.{name}"
    span = given.name_span if given.name_span is not None else call.name_span
    where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
    return Observation("encoder-lost", where, "crash", "", data={"sure": call.sure, "what": what})
