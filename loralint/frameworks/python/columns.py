"""Functions that SFTTrainer gets, and rows that are not as they read them: one, not several, or without columns.

Sources: trl 0.15.1, 0.16.1, 0.19.1, 0.24.0 and 1.16.0 trainer/sft_trainer.py. Since 0.24 a formatting function gets
one row, before it might get a batch; a Trainer drops the columns that it does not know before a collator sees any.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.collators import outdated
from loralint.frameworks.python.functions import function_of, given_back
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.rows import loaded
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import argument, last
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.script import Argument, Call, Script

_KEPT = frozenset({"input_ids", "labels", "attention_mask", "completion_mask", "assistant_masks", "seq_lengths",
                   "position_ids", "token_type_ids", "pixel_values", "image_grid_thw"})  # fmt: skip
# what newer releases keep beside that, of rows with pictures
_PICTURED = frozenset({"messages", "prompt", "completion", "image", "images", "tools", "chat_template_kwargs"})
_OTHERWISE = ("remove_unused_columns", "unsloth", "set_transform", "with_transform", "_signature_columns")


def of_columns(script: Script, parts: Parts, look: Look) -> Iterator[Observation]:
    """Both of that for one trainer."""
    trainer, what = parts.trainer, of(parts.trainer) if parts.trainer is not None else None
    if trainer is None or what is None or last(trainer) != "SFTTrainer" or "unsloth" in script.text:
        return
    given = argument(trainer, "formatting_func", what)
    function = function_of(given.node, script) if given is not None else None
    listed = given is not None and function is not None and _listed(function) and not outdated(trainer)
    if given is not None and function is not None and listed and look.version_is("trl>=0.24"):
        yield _told("format-gives-list", trainer, given, {"function": function.name})
    given = argument(trainer, "data_collator", what)
    function = function_of(given.node, script) if given is not None else None
    rows = argument(trainer, "train_dataset", what)
    if given is None or function is None or says(_OTHERWISE, script.text) or rows is None or not loaded(rows.thing):
        return
    kept = _KEPT if look.version_is("trl<0.20") else _KEPT | _PICTURED
    column = next((one for one in _read(function) if one not in kept), None)
    if column is not None:
        yield _told("rows-read-raw", trainer, given, {"function": function.name, "name": column})


def _listed(function: ast.FunctionDef) -> bool:
    """Whether it gives a list that it fills in a loop over the rows of a batch."""
    empty = {
        target.id
        for one in function.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.List) and not one.value.elts
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    back = given_back(function)
    return bool(back) and all(isinstance(one, ast.Name) and one.id in empty for one in back)


def _read(function: ast.FunctionDef) -> Iterator[str]:
    """The columns that it reads by name from each of the rows that it gets."""
    rows = function.args.args[0].arg if len(function.args.args) == 1 else ""
    loops = (one for one in ast.walk(function) if isinstance(one, ast.For | ast.comprehension))
    each = {
        loop.target.id
        for loop in loops
        if isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Name) and loop.iter.id == rows
    }
    for one in ast.walk(function):
        if not isinstance(one, ast.Subscript) or not isinstance(one.ctx, ast.Load):
            continue
        key = one.slice.value if isinstance(one.slice, ast.Constant) else None
        if isinstance(one.value, ast.Name) and one.value.id in each and isinstance(key, str):
            yield key


def _told(kind: str, trainer: Call, given: Argument, data: dict[str, object]) -> Observation:
    key = f"{last(trainer)}.{given.name}"
    where = Value(None, key=key, pointer=f"/{key}", span=given.name_span, key_span=given.name_span)
    return Observation(kind, where, "crash", "", package="trl", data={"sure": trainer.sure, **data})
