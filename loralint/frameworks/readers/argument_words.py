"""Words that TrainingArguments nearly knows, where a reader has no list of them: the Trainer stops at a slip.

The closed lists are those of TRL's files (knowledge part `keys-trl`, `choices`), whose keys are the same arguments. A
word that resembles none may be one of the program's own.
"""

from __future__ import annotations

from loralint.frameworks.observe import chosen
from loralint.frameworks.table import Look, Observation, Reader
from loralint.source.document import Document

_LISTS = Reader("trl", "TRL", "pyyaml", (), "trl", coerces=True, packages=("trl",))
_KEYS = frozenset({"lr_scheduler_type", "optim", "eval_strategy", "save_strategy"})


def observe_words(document: Document, look: Look) -> list[Observation]:
    """Observe slips of the words for schedule, optimizer and strategies."""
    if document.root is None or _KEYS.isdisjoint(pair.key for pair in document.root.pairs):
        return []
    return [one for one in chosen(document, _LISTS, look) if one.value.key in _KEYS and one.replacement]
