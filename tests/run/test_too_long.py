"""Programs of which the reader sees the beginning alone: what nobody could follow is told, never passed in silence."""

from __future__ import annotations

import pytest

import loralint

HEAD = "from peft import LoraConfig, get_peft_model\nfrom transformers import Trainer, TrainingArguments\nrows = []\n"
TAIL = "Trainer(get_peft_model(m, LoraConfig(r=8)), TrainingArguments('x', learning_rate=-1)).train()\n"


@pytest.fixture
def told(tmp_path):
    def check(text):
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        runs = loralint.check(str(tmp_path / "train.py")).runs
        return {one.rule for run in runs for one in run.findings}, [note.message for run in runs for note in run.notes]

    return check


@pytest.mark.parametrize("line", ["rows.append(1)\n", "rows = rows + [1]\n"])
def test_a_training_behind_more_steps_than_are_followed_is_told_as_unchecked(told, line):
    assert told(HEAD + line * 3_000 + TAIL) == (
        set(),
        ["more steps than are followed, and no training among the first"],
    )


@pytest.mark.parametrize("line", ["rows.append(1)\n", "rows = rows + [1]\n"])
def test_the_same_within_the_steps_is_judged(told, line):
    assert "LL403" in told(HEAD + line * 30 + TAIL)[0]


def test_a_long_program_that_speaks_of_no_training_is_nobodys_run(told):
    assert told("rows = []\n" + "rows.append(1)\n" * 3_000) == (set(), [])
