"""Programs that Python cannot read: told where they clearly train, passed over where they may be anything."""

from __future__ import annotations

import pytest

from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

GOOD = """\
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
trainer = SFTTrainer("Qwen/Qwen2.5-7B", args=SFTConfig("o", bf16=True), peft_config=LoraConfig(r=16))
trainer.train()
trainer.save_model("o")
"""
BAD = GOOD.replace("train()\n", "train(\n")


@pytest.fixture
def faults(tmp_path):
    def read(name, **files):
        for file, text in files.items():
            (tmp_path / file.replace("_dot_", ".")).write_text(text)
        document = read_file(str(tmp_path / name), str(tmp_path / name))
        runs = starts(document, Options(), Project(str(tmp_path)))
        return [[(one.kind, one.value.span.line) for one in run.observations] for run in runs]

    return read


def test_a_training_script_that_does_not_parse_is_a_run_that_stops(faults):
    assert faults("train.py", train_dot_py=BAD) == [[("syntax", 4)]]
    assert faults("train.py", train_dot_py=GOOD) == [[]]


def test_so_is_what_a_line_starts_and_its_flags_are_not_judged(faults):
    (found,) = faults("run.sh", train_dot_py=BAD, run_dot_sh="python train.py --my_rate 1e-4\n")
    assert found == [("syntax", 4)]


@pytest.mark.parametrize(
    "text",
    [
        BAD + "print 'done'\n",
        BAD.replace("Qwen/Qwen2.5-7B", "{{ cookiecutter.model }}"),
        "# lora\n" + BAD.replace("from trl", "from ours"),
        BAD.replace("trainer.train(", "trainer.evaluate("),
        "A page on lora\n>>> from trl import SFTTrainer\n>>> SFTTrainer().train()\n",
    ],
)
def test_what_may_be_something_else_is_none(faults, text):
    assert faults("train.py", train_dot_py=text) == []
