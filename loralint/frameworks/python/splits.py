"""Whether rows of a trainer are a dictionary of splits or of sets, and whether it computes more than the loss.

Sources: datasets 4.4.1 load.py (load_dataset without a split gives a DatasetDict) and dataset_dict.py, transformers
5.24.0 trainer.py (evaluate).
"""

from __future__ import annotations

import re

from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import last
from loralint.source.script import Argument, Call, Thing

# methods of a dictionary of splits that give back such a dictionary
_KEEP = frozenset(
    {"map", "filter", "shuffle", "sort", "cast", "cast_column", "rename_column", "rename_columns", "remove_columns",
     "select_columns", "with_format", "with_transform", "flatten", "flatten_indices", "class_encode_column",
     "align_labels_with_mapping"}
)  # fmt: skip
# what may add metrics of its own, besides compute_metrics
ADDS = re.compile(r"def (?:evaluate|evaluation_loop|prediction_loop|log)\b|on_evaluate|_determine_best_metric")
_LOADS = "datasets.load_dataset"
_STEPS = 50
# what keeps an evaluation's logits out of the GPU's memory, or from being kept at all
_ROOM = (
    "eval_accumulation_steps", "batch_eval_metrics", "prediction_loss_only", "prediction_step", "evaluation_loop",
    "def evaluate(self",
)  # fmt: skip
_SPLIT = 4  # where load_dataset has its split among positional arguments: path, name, data_dir, data_files, split


def divided(given: Argument | None) -> bool | None:
    """Whether rows are surely a dictionary of splits, of which none is chosen; None when nobody knows."""
    thing = given.thing if given is not None else None
    for _ in range(_STEPS):
        made = thing.made if thing is not None else None
        if made is None or thing is None or thing.either or not made.sure:
            return None
        name = last(made)
        if made.name == _LOADS:
            return None if made.open or made.arg("split", _SPLIT) is not None else True
        if name == "train_test_split" and made.on is not None:
            return True if _rows(made.on) else None
        if name not in _KEEP or made.on is None:
            return None
        thing = made.on
    return None


def _rows(thing: Thing) -> bool:
    """Whether rows that are split come from a data set of the library, and not from arrays."""
    for _ in range(_STEPS):
        made = thing.made
        if made is None or thing.either:
            return False
        if made.name == _LOADS:
            return True
        if made.on is None:
            return False
        thing = made.on
    return False


def several(given: Argument | None) -> bool | None:
    """Whether rows for evaluation are several sets with names of their own; None when nobody knows."""
    if given is None or given.node.tag == "null":
        return False
    if given.node.kind == "mapping":
        return len(given.node.pairs) > 0
    return True if divided(given) else None


def reduced(call: Call, text: str) -> bool | None:
    """Whether logits are made smaller before they are kept for metrics; None where the program may see to their room
    in another way.
    """
    if call.arg("preprocess_logits_for_metrics") is not None:
        return True
    return None if call.open or says(_ROOM, text) else False


def measured(call: Call, text: str) -> bool | None:
    """Whether an evaluation gives more than the loss; None where the program may see to that elsewhere."""
    given = call.arg("compute_metrics")
    if given is not None:
        return given.node.tag != "null" or None
    return None if call.open or "compute_metrics" in text or says(ADDS, text) else False
