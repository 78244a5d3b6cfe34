"""What becomes of a model after it was loaded: cast, moved, merged; and what a collator makes of its rows."""

from __future__ import annotations

from collections.abc import Sequence

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.loads import load_of, loaded, switch
from loralint.frameworks.python.trace import earlier, last, makers, root
from loralint.model import Event
from loralint.source.script import Call, Script, Thing

_CASTS = {"half": "fp16", "bfloat16": "bf16", "float": "fp32"}
_DTYPES = {"torch.float16": "fp16", "torch.half": "fp16", "torch.bfloat16": "bf16", "torch.float32": "fp32"}
_WRITERS = ("ForCausalLM", "ForSeq2SeqLM", "ForConditionalGeneration", "ForImageTextToText", "LMHeadModel",
            "WithValueHead")  # fmt: skip
_STEPS = 100


def formed(call: Call, name: str) -> tuple[str, dict[str, object]]:
    """The kind of event that `.half()`, `.to(...)` or `.cuda()` is, and its data: without a dtype it only moves.

    bits: of the weights, as `loaded` gives them; of one branch nobody knows whether another one quantised them.
    wrapped: whether an adapter is on them.
    """
    load = load_of(call.on)
    config = load.arg("quantization_config") if load is not None else None
    quantised = makers(config.thing, "quantisation")[0] if config is not None else []
    apart = not call.sure and not all(one.sure for one in quantised)
    bits = loaded(load)["bits"] if load is not None and not apart else None
    data = {"bits": bits, "wrapped": any(makers(call.on, role)[0] for role in ("wrap", "load-adapter"))}
    given = (_DTYPES.get(one.node.raw) for one in call.args if one.node.tag == "name")
    dtype = _CASTS.get(name) or next(filter(None, given), None)
    return ("cast", {"dtype": dtype, **data}) if dtype else ("move", data)


def left_out(script: Script) -> set[int]:
    """Numbers of what a program makes and no trainer gets, where it has trainers and all that they get is seen."""
    trainers = [call for call in script.calls if (what := of(call)) is not None and what.role == "trainer"]
    if not trainers or any(one.open for one in trainers):
        return set()
    things = [arg.thing for one in trainers for arg in one.args if arg.thing is not None]
    given = {each.number for thing in things for each in (thing, root(thing), *thing.either)}
    return {call.result.number for call in script.calls} - given


def judged(done: Sequence[Event]) -> list[Event]:
    """The events of a program; beside a model that writes, a classifier may be the judge of what it writes, or what
    another task has in its place, so that of its head nobody knows whether the adapter is meant for it. Tokens that are
    added say whether a model gets rows for them.
    """
    resized = any(one.kind == "resize" for one in done)
    told = {"add-tokens": {"resized": resized}}
    done = [one._replace(data={**one.data, **told[one.kind]}) if one.kind in told else one for one in done]
    if not any(one.kind == "load" and str(one.data.get("class")).endswith(_WRITERS) for one in done):
        return list(done)
    return [one._replace(data={**one.data, "headed": None}) if one.kind == "load" else one for one in done]


def merged(thing: Thing | None, steps: int = _STEPS) -> bool | None:
    """Whether an object is what merging gave back; None where it is in one branch, or after one turn of a loop."""
    for _ in range(steps):
        if thing is not None and thing.either:
            found = {merged(one, steps // 2) for one in thing.either}
            return found.pop() if len(found) == 1 else None
        if thing is None or thing.made is None:
            return False
        if last(thing.made) == "merge_and_unload":
            return True
        thing = earlier(thing)
    return False


def collated(call: Call) -> dict[str, object]:
    """masks_pad: whether a collator leaves padding out of the loss by the number of its token. fills: whether it hides
    tokens for the model to guess, which DataCollatorForLanguageModeling of Transformers does unless told otherwise.
    """
    if last(call) != "DataCollatorForLanguageModeling":
        return {"masks_pad": True, "fills": False, "class": last(call), "number": call.result.number}
    given = call.arg("mlm", 1)
    fills = None if given is None and call.open else switch(given, True)
    own = not call.name.startswith("trl.")  # TRL's of the same name has no such switch
    masks = given is not None and given.node.native is False
    return {"masks_pad": masks, "fills": fills and own, "class": last(call), "number": call.result.number}
