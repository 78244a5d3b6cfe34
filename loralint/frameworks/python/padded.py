"""Labels that a program copies from rows which are padded to a fixed length, with the padding in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.rows import batched
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.script import Script

# in a notebook a quote of the program stands behind a backslash
_PADS = re.compile(r"padding\s*=\s*\\?[\"']max_length\\?[\"']")
_LABELS = re.compile(
    r"(?:\[\\?[\"']labels\\?[\"']\]\s*=|\\?[\"']labels\\?[\"']\s*:|\blabels\s*=)\s*"
    r"(?:[\w.]+\[\\?[\"']input_ids\\?[\"']\]|(?:\w+\.)?input_ids)(?:\.(?:copy|clone)\(\))?(?=\s*(?:[,)}\n\\]|$))"
)
# whatever may leave padding out of the loss, rows that need none, and a loss of the program's own
_MASKS = re.compile(
    r"(?i)-100|ignore_?index|masked_fill|loss_?mask|where\(|group_texts|return_overflowing|compute_loss|CrossEntropyLoss"
    r"|DataCollatorForLanguageModeling|CompletionOnly|train_on_responses|pad_token_id\s*\]?\s*[=!]=|[=!]=\s*[\w.]*pad_token_id"
)
_KEEPS = frozenset(
    {"", "default_data_collator", "DefaultDataCollator", "DataCollatorWithPadding", "DataCollatorForSeq2Seq"}
)


def counted(script: Script, parts: Parts) -> Iterator[Observation]:
    """Observe such labels where nothing is seen that leaves the padding out."""
    if not _PADS.search(script.text) or _MASKS.search(script.text) or not _as_they_are(parts):
        return
    for document in (script.document, *script.modules):
        if (found := _LABELS.search(document.text)) is not None:
            where = Value(None, key="labels", pointer="/labels", span=document.span_at(found.start(), found.end()))
            yield Observation("padding-counted", where, "harmless", "")
            return


def _as_they_are(parts: Parts) -> bool:
    """Whether labels reach the model as they are made: in the program's own loop, or by a collator that keeps them."""
    if parts.trainer is None:
        return True
    what = of(parts.trainer)
    return what is not None and what.package == "transformers" and batched(parts.trainer, what) in _KEEPS
