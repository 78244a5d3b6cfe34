"""Rows that are a dictionary of splits, sets with names, and what an evaluation computes."""

from __future__ import annotations

import pytest

from loralint.frameworks.python.splits import measured
from loralint.source.python import read_script
from loralint.source.read import read_bytes

SCRIPT = """
    from datasets import load_dataset
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
    {rows}
    args = TrainingArguments(output_dir="out", learning_rate=2e-4)
    trainer = Trainer(model=model, args=args, train_dataset=rows, {more})
    trainer.train({resume})
"""


def events(run, rows="rows = make()", more="", resume=""):
    _, layer = run(SCRIPT.format(rows=rows, more=more, resume=resume))
    return {one.kind: one.data for one in layer.events}


@pytest.mark.parametrize(
    ("rows", "divided"),
    [
        ('rows = load_dataset("json", data_files="a.jsonl")', True),
        ('rows = load_dataset("json", data_files="a.jsonl").map(f).shuffle(seed=1)', True),
        ('rows = load_dataset("json", data_files="a.jsonl", split="train")', None),
        ('rows = load_dataset("org/rows", "en", None, None, "train")', None),
        ('rows = load_dataset("json", data_files="a.jsonl")["train"]', None),
        ('rows = load_dataset("json", data_files="a.jsonl", split="train").train_test_split(0.1)', True),
        ('rows = load_dataset("json", **given)', None),
        ("rows = make()", None),
        ('rows = load_dataset("json", data_files="a.jsonl") if big else make()', None),
    ],
)
def test_splits_in_the_place_of_rows(run, rows, divided):
    assert events(run, rows)["trainer"]["splits"] is divided


@pytest.mark.parametrize(
    ("more", "several"),
    [
        ('eval_dataset={"chat": chat, "code": code}', True),
        ("eval_dataset=held", None),
        ("eval_dataset=None", False),
        ("", False),
    ],
)
def test_sets_with_names(run, more, several):
    assert events(run, more=more)["trainer"]["sets"] is several


@pytest.mark.parametrize(
    ("more", "measured"),
    [("", False), ("compute_metrics=scores", True), ("compute_metrics=None", None), ("**given", None)],
)
def test_what_an_evaluation_computes(run, more, measured):
    assert events(run, more=more)["trainer"]["has_metrics"] is measured


@pytest.mark.parametrize(("resume", "resumes"), [("", False), ("resume_from_checkpoint=True", True), ("**given", None)])
def test_whether_a_run_goes_on(run, resume, resumes):
    assert events(run, resume=resume)["train"]["resume"] is resumes


@pytest.mark.parametrize("method", ["evaluate", "evaluation_loop", "prediction_loop", "log"])
def test_a_trainer_of_the_programs_own_may_compute_more(method):
    text = f"class Own(Trainer):\n    def {method}(self, *given):\n        return scores\nOwn(model=model)\n"
    (call,) = read_script(read_bytes(text.encode(), "run.py")).calls[-1:]
    assert measured(call, text) is None
    assert measured(call, text.replace(f"def {method}", "def draw")) is False
