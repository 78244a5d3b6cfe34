"""Collators that SFTTrainer gets, and columns of its rows that they make no tensors of.

Sources: trl 0.15.1 and 1.16.0 trainer/sft_trainer.py (_prepare_dataset keeps the columns of a row, and adds labels
since 1.7), transformers 5.24.0 data/data_collator.py; all of it run here with a small Llama.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.rows import loaded
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import argument, last
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.script import Argument, Call, Script

_PADS_TOKENS = frozenset({"DataCollatorForLanguageModeling", "DataCollatorWithPadding"})
_KEPT = re.compile(r"\bremove_unused_columns\s*=\s*False\b")
# whatever may leave texts out, rows of tokens, and rows that are packed
_WITHOUT = ("remove_columns", "select_columns", "set_format", "with_format", "input_ids", "skip_prepare_dataset",
            "packing")  # fmt: skip
# whatever may make all rows one length, or labels of its own
_EVEN = ("padding", "group_texts", "block_size", "skip_prepare_dataset", "packing", "labels")
_OLD = ("tokenizer", "dataset_text_field", "max_seq_length", "packing", "dataset_kwargs")


def of_collators(script: Script, parts: Parts, look: Look) -> Iterator[Observation]:
    """Both of that for one trainer."""
    trainer, what = parts.trainer, of(parts.trainer) if parts.trainer is not None else None
    if trainer is None or what is None or last(trainer) != "SFTTrainer" or "unsloth" in script.text:
        return
    given, rows = argument(trainer, "data_collator", what), argument(trainer, "train_dataset", what)
    made = given.thing.made if given is not None and given.thing is not None else None
    if given is None or made is None or rows is None or not loaded(rows.thing):
        return
    pads_tokens = made.name.startswith("transformers") and last(made) in _PADS_TOKENS
    if pads_tokens and look.version_is("trl>=1.7") and not outdated(trainer) and not says(_EVEN, script.text):
        yield _told("labels-added", trainer, "SFTTrainer.data_collator", given, made)
    tensors = pads_tokens or last(made) in ("DataCollatorForSeq2Seq", "DataCollatorForCompletionOnlyLM")
    if tensors and says(_KEPT, script.text) and not says(_WITHOUT, script.text):
        for call in script.calls:
            kept = call.arg("remove_unused_columns")
            if kept is not None and kept.node.native is False:
                yield _told("texts-left", trainer, f"{last(call)}.remove_unused_columns", kept, made)


def outdated(trainer: Call) -> bool:
    """Whether SFTTrainer gets what its newer releases refuse, so that it is an older one that is meant."""
    return any(trainer.arg(name) is not None for name in _OLD)


def _told(kind: str, trainer: Call, key: str, given: Argument, made: Call) -> Observation:
    where = Value(None, key=key, pointer=f"/{key}", span=given.name_span, key_span=given.name_span)
    package = "trl" if kind == "labels-added" else ""
    data = {"sure": trainer.sure, "collator": last(made)}
    return Observation(kind, where, "crash", "", package=package, data=data)
