"""What is looked for in one row."""

from __future__ import annotations

from loralint.data.example import Example
from loralint.data.lengths import CUT, DROP, Ruler
from loralint.data.plan import Plan
from loralint.data.row import Row
from loralint.data.shape import Shape
from loralint.data.tally import Tally
from loralint.data.texts import family_of, markers, unclean
from loralint.data.turns import faults_of

# What a table library writes for an empty cell, and what forums leave of a deleted text.
_PLACEHOLDERS = frozenset({"nan", "NaN", "None", "null", "NULL", "undefined", "<NA>", "[deleted]", "[removed]"})
_LONGEST_PLACEHOLDER = 16


def check(row: Row, example: Example, data: bytes, shape: Shape, plan: Plan, ruler: Ruler | None, tally: Tally) -> None:
    """Everything but what takes other rows to compare with. data: the example's `whole` in UTF-8."""
    if example.missing:
        tally.add("data-missing-field", row, example.missing)
    if example.wrong:
        tally.add("data-wrong-type", row, example.wrong)
    if not example.missing and not example.wrong:
        _roles(row, example, plan, tally)
        _empty(row, example, shape, plan, tally)
    _text(row, example, data, plan, tally)
    if shape.rejected and example.answer and example.answer == example.rejected:
        tally.add("data-no-preference", row, shape.rejected)
    if shape.label and not example.missing:
        _label(row, example, shape, tally)
    if ruler is not None:
        _length(row, example, plan, ruler, tally)


def _roles(row: Row, example: Example, plan: Plan, tally: Tally) -> None:
    if plan.framework == "ms-swift" and example.roles == ("assistant",):
        return  # how its rows for pretraining are written
    if example.kind == "chat" and not plan.generates:
        for kind, detail in faults_of(example.roles):
            tally.add(kind, row, detail=detail)


def _empty(row: Row, example: Example, shape: Shape, plan: Plan, tally: Tally) -> None:
    answer = example.answer
    if not answer or answer.isspace():
        if not plan.generates and (example.kind != "chat" or "assistant" in example.roles):
            tally.add("data-empty-answer", row, shape.answer or shape.messages)
    elif len(answer) <= _LONGEST_PLACEHOLDER and answer.strip() in _PLACEHOLDERS:
        tally.add("data-placeholder", row, shape.answer or shape.messages)
    if shape.prompt and not example.prompt.strip():
        tally.add("data-empty-prompt", row, shape.prompt[0])


def _text(row: Row, example: Example, data: bytes, plan: Plan, tally: Tally) -> None:
    sign = markers(example.whole)
    if sign:
        family = family_of(sign)
        if example.kind == "chat" or (plan.templated and example.kind != "text"):
            tally.add("data-markers", row, detail=sign)
        elif plan.family and family != plan.family:
            tally.add("data-foreign-markers", row, detail=sign)
    for kind, detail in unclean(example.whole, data):
        tally.add(kind, row, detail=detail)


def _label(row: Row, example: Example, shape: Shape, tally: Tally) -> None:
    label = example.label
    if isinstance(label, bool) or (isinstance(label, (int, float)) and label in (0, 1)):
        tally.add("data-label-true" if label else "data-label-false", row, shape.label)
    else:
        tally.add("data-label-type", row, shape.label, type(label).__name__)


def _length(row: Row, example: Example, plan: Plan, ruler: Ruler, tally: Tally) -> None:
    """The prompt alone where its loss is masked, else the row as a whole."""
    if example.kind == "text":
        if plan.policy is CUT and ruler.longer(example.whole):
            tally.add("data-long-row", row)
    elif example.kind in ("instruct", "chat") and plan.supervised and ruler.longer(example.whole):
        masked = plan.masked if plan.masked is not None else example.kind == "instruct" and plan.framework == "trl"
        if masked and plan.policy in (CUT, DROP) and ruler.longer(example.prompt):
            tally.add("data-long-prompt", row)
        else:
            tally.add("data-long-row", row)
