"""Rows that a trainer is given and cannot make batches of: pandas frames, and labels of many lengths.

Sources: transformers 5.24.0 trainer.py (get_train_dataloader) and data/data_collator.py; both run here with a small
Llama.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.rows import batched, mapped
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import argument, last
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.script import Argument, Call, Script, Thing

_STEPS = 20
# what gives a frame, and what gives one of a frame
_FRAMES = frozenset({"DataFrame", "read_csv", "read_json", "read_excel", "read_parquet", "read_table", "read_pickle"})
_SHAPES = frozenset({"copy", "head", "tail", "sample", "dropna", "fillna", "reset_index", "drop", "drop_duplicates",
                     "rename", "query", "astype", "sort_values"})  # fmt: skip
_COPIED = re.compile(
    r"\[\\?[\"']labels\\?[\"']\]\s*=\s*\w+\[\\?[\"']input_ids\\?[\"']\](?:\.copy\(\))?(?=\s*(?:[,)}\n\\#]|$))"
)
# whatever may make all rows of a batch one length
_EVEN = re.compile(
    r"(?i)\bpadding\\?[\"']?\s*[=:](?!\s*False)|pad_sequence|\.pad\(|pad_token_id\]|group_texts|block_size|chunk|overflow"
    r"|\bpack|set_transform|with_transform|collate_fn|get_train_dataloader"
)
_NO_LABELS = {
    "": "the trainer's own way to make batches",
    "default_data_collator": "default_data_collator",
    "DataCollatorWithPadding": "DataCollatorWithPadding",
    "DataCollatorForLanguageModeling": "DataCollatorForLanguageModeling",
}


def of_fed(script: Script, parts: Parts, _: Look) -> Iterator[Observation]:
    """Both of that for one trainer."""
    trainer, what = parts.trainer, of(parts.trainer) if parts.trainer is not None else None
    if trainer is None or what is None:
        return
    rows = argument(trainer, "train_dataset", what)
    if rows is not None and _framed(rows.thing):
        yield _told("rows-of-pandas", trainer, "train_dataset", rows, "")
    elif what.package == "transformers" and rows is not None and _uneven(script, rows):
        collator = _NO_LABELS.get(batched(trainer, what) or "") if batched(trainer, what) is not None else None
        if collator is not None:
            found = _told("labels-uneven", trainer, "data_collator", trainer.arg("data_collator"), collator)
            cut = "truncation" in script.text  # which may leave long rows all at one length
            yield found._replace(data={**found.data, "sure": trainer.sure and not cut})


def _framed(thing: Thing | None) -> bool:
    """Whether it is a frame of pandas, or what scikit-learn made of one."""
    for _ in range(_STEPS):
        made = thing.made if thing is not None and not thing.either else None
        if made is None:
            return False
        if made.on is None and not made.name.startswith("sklearn"):
            return last(made) in _FRAMES and made.name.startswith("pandas")
        thing = _before(made)
    return False


def _before(made: Call) -> Thing | None:
    """The frame that this one is a part of."""
    first = made.args[0] if made.args and not made.args[0].name else None
    name = last(made)
    if made.on is None:
        return first.thing if first is not None and name == "train_test_split" else None
    part = name == "__getitem__" and first is not None and first.node.tag != "str"
    return made.on if part or name in _SHAPES else None


def _uneven(script: Script, rows: Argument) -> bool:
    """Whether labels are copied from tokens that nothing pads."""
    return mapped(rows.thing) and says(_COPIED, script.text) and not says(_EVEN, script.text)


def _told(kind: str, trainer: Call, name: str, given: Argument | None, collator: str) -> Observation:
    span = given.name_span if given is not None and given.name_span is not None else trainer.name_span
    key = f"{last(trainer)}.{name}"
    data = {"sure": trainer.sure, "trainer": last(trainer), "collator": collator}
    return Observation(kind, Value(None, key=key, pointer=f"/{key}", span=span, key_span=span), "crash", "", data=data)
