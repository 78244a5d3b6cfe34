"""What is observed of how a program goes about it, besides the keywords that it gives to classes of the libraries."""

from __future__ import annotations

import re
from functools import partial

from loralint.frameworks.python.adalora import observe_adalora
from loralint.frameworks.python.gone import Observer
from loralint.frameworks.python.late import of_what_is_late
from loralint.frameworks.python.metrics import of_metrics
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.rewards import of_rewards
from loralint.frameworks.python.teachers import of_teachers
from loralint.frameworks.python.unable import of_what_cannot_be
from loralint.frameworks.table import Look, Observation, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document
from loralint.source.script import Script

# what puts weights into an adapter after it was made, or makes several to choose from
_FILLS = re.compile(
    r"set_peft_model_state_dict|load_state_dict|load_adapter|add_adapter|lora_[AB]\b|replace_lora_weights"
)
_TRAINS = re.compile(r"\.(?:train|backward|fit)\(")
# what gathers weights that ZeRO-3 has split over the GPUs (DeepSpeed 0.19.6)
_GATHERS = ("GatheredParameters", "_zero3_consolidated_16bit_state_dict")


def observe_program(script: Script, parts: Parts, _: Document, look: Look) -> list[Observation]:
    """Every such fault of one start."""
    return [
        one
        for of in (of_rewards, of_metrics, of_what_is_late, of_what_cannot_be, of_teachers)
        for one in of(script, parts, look)
    ]


def whole_adapter(parts: Parts, script: Script) -> tuple[Observer, ...]:
    """What is observed of an adapter's config where all that it gets can be seen."""
    return (partial(observe_adalora, script.text),) if parts.adapter is not None and not parts.adapter.open else ()


def text_decides(text: str, sure: bool, _: Document, values: Values) -> Values:
    """What nobody knows of a program that speaks of a chat template, puts weights into a random adapter, gathers those
    that ZeRO-3 has split, or makes an adapter in a branch. sure: the adapter's config is made in every run.
    """
    found = {}
    if "chat_template" in text and not values.get("data.template"):
        found["data.template"] = "the program may set a chat template"
    unusual = any(one.value == "false" for one in values.get("adapter.init", ()))
    if unusual and (_FILLS.search(text) or not _TRAINS.search(text)):
        found["adapter.init"] = "the program may put weights of its own into the adapter, or train nothing"
    if any(word in text for word in _GATHERS):
        found["dist.ds_gather"] = "the program gathers weights itself"
    if not sure and "get_reft_model" in text:
        found["adapter.method"] = "the adapter is made in a branch, beside interventions of pyreft's"
    if not sure and any(one.value == 0 for one in values.get("adapter.rank", ())):
        why = "the adapter is made in a branch, which a rank of 0 may be meant to leave out"
        found |= {"adapter.rank": why, "adapter.method": why}
    return {field: (Value(Unknown(reason), field=field),) for field, reason in found.items()}
