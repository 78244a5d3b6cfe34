"""Numbers left to "auto" in a config that a program hands to DeepSpeed itself, which fills none in.

Source: DeepSpeed 0.18 runtime/config.py (_set_batch_related_parameters, _batch_assertion).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.source.document import Document
from loralint.source.script import Argument, Call, Script

_NUMBERS = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
_READS = frozenset({"HfDeepSpeedConfig", "print", "dumps", "dump", "info"})
# what fills them in, of Transformers and Accelerate
_FILLS = ("trainer_config_process", "trainer_config_finalize", "deepspeed_config_process", "fill_match")


def left_to_nobody(script: Script, document: Document) -> Iterator[Observation]:
    """Observe the first such number of each config; with words there, DeepSpeed cannot reckon the others."""
    if any(word in script.text for word in _FILLS):
        return
    for call in script.calls:
        given = call.arg("config") if call.name == "deepspeed.initialize" else None
        if given is None or given.node.kind != "mapping" or _elsewhere(script, call, given):
            continue
        pairs = given.node.pairs
        found = next((one for one in pairs if one.key in _NUMBERS and one.value.native == "auto"), None)
        if found is not None:
            message = "deepspeed.initialize fills in no `auto`, unlike the Trainer, and reckons with the word"
            data = {"advice": f"write a number for {found.key}, and for every other `auto`"}
            yield Observation("rejected", place(document, found, f"config.{found.key}"), "crash", message, data=data)


def _elsewhere(script: Script, call: Call, config: Argument) -> bool:
    """Whether the config is handed to anything else, which may fill it in."""
    others = (one for one in script.calls if one is not call and one.name.rpartition(".")[2] not in _READS)
    return any(arg.node.start == config.node.start for one in others for arg in one.args if arg.node.kind == "mapping")
