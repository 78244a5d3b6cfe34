"""Metrics of Transformers' trainers: a best model sought by one that nobody computes, labels decoded with -100 in them.

Sources: transformers 4.57.6 and 5.24.0 trainer.py (`_determine_best_metric`: a KeyError), data/data_collator.py
(DataCollatorForSeq2Seq fills labels with -100), trainer_utils.py (speed_metrics).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.functions import function_of, given_back
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.rows import batched
from loralint.frameworks.python.splits import ADDS
from loralint.frameworks.python.syntax import written
from loralint.frameworks.python.trace import last
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.script import Argument, Call, Script

_ALWAYS = frozenset({"loss", "runtime", "samples_per_second", "steps_per_second", "jit_compilation_time",
                     "model_preparation_time"})  # fmt: skip
_MASKS = re.compile(r"-100|where|pad_token|mask|ignore|filter|>= *0|> *-1")
_DECODES = frozenset({"batch_decode", "decode"})


def of_metrics(script: Script, parts: Parts, _: Look) -> Iterator[Observation]:
    """What is wrong with how one of Transformers' own trainers measures."""
    trainer = parts.trainer
    if trainer is None or trainer.open or last(trainer) not in ("Trainer", "Seq2SeqTrainer"):
        return
    given = trainer.arg("compute_metrics")
    if parts.arguments is not None:
        yield from _unmeasured(script, parts.arguments, given)
    what = of(trainer)
    function = function_of(given.node, script) if given is not None else None
    if given and what and function is not None and batched(trainer, what) == "DataCollatorForSeq2Seq":
        yield from _decoded(script, trainer, given, function)


def _unmeasured(script: Script, arguments: Call, given: Argument | None) -> Iterator[Observation]:
    sought, best = arguments.arg("metric_for_best_model"), arguments.arg("load_best_model_at_end")
    if sought is None or sought.node.tag != "str" or best is None or best.node.native is not True:
        return
    names = _names(script, given)
    name = sought.node.raw.removeprefix("eval_")
    if names is None or name in names or ADDS.search(script.text):
        return
    if any(name.endswith(f"_{one}") for one in names):
        return  # of several sets each metric has the name of its set before it
    key = f"{last(arguments)}.metric_for_best_model"
    where = Value(sought.node.raw, key=key, pointer=f"/{key}", span=script.document.span(sought.node))
    own = sorted(names - _ALWAYS)
    data = {"metric": name, "given": ", ".join(own), "one": (own or ["loss"])[0]}
    yield Observation("metric-missing", where, "crash", "", data=data)


def _names(script: Script, given: Argument | None) -> frozenset[str] | None:
    """What is measured at each evaluation; None where that cannot be seen."""
    function = function_of(given.node, script) if given is not None else None
    back = given_back(function) if function is not None else []
    keys = [key for one in back if isinstance(one, ast.Dict) for key in one.keys]
    if not back or not all(isinstance(one, ast.Dict) for one in back):
        return None
    names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return _ALWAYS | {one.removeprefix("eval_") for one in names} if len(names) == len(keys) else None


def _decoded(script: Script, trainer: Call, given: Argument, function: ast.FunctionDef) -> Iterator[Observation]:
    """Labels that go to the tokenizer as the collator left them."""
    if "label_pad_token_id" in script.text or not function.args.args:
        return
    if _MASKS.search(written(function)):
        return
    asked = function.args.args[0].arg
    labels = _labels(function, asked)
    handed = [
        one.args[0] for one in ast.walk(function) if isinstance(one, ast.Call) and one.args and _decodes(one.func)
    ]
    if any(written(one) in labels for one in handed):
        key = f"{last(trainer)}.compute_metrics"
        where = Value(None, key=key, pointer=f"/{key}", span=script.document.span(given.node))
        yield Observation("labels-decoded", where, "crash", "", data={"function": function.name})


def _decodes(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and called.attr in _DECODES


def _labels(function: ast.FunctionDef, asked: str) -> set[str]:
    """How the function calls the labels of what it is asked about, where it gives them no other value later."""
    found = {f"{asked}.label_ids", f"{asked}[1]"}
    names: list[str] = []
    for one in ast.walk(function):
        if not isinstance(one, ast.Assign):
            continue
        target, given = one.targets[0], written(one.value)
        pair = target.elts if isinstance(target, ast.Tuple) and len(target.elts) == 2 else []
        names += [written(part) for part in pair or [target]]
        if (pair and given == asked) or (not pair and given in found):
            found.add(names[-1])
    return {one for one in found if names.count(one) < 2}
