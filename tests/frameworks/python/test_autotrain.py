"""AutoTrain's own classes in a program."""

from __future__ import annotations

import pytest

import loralint
from loralint.engine.settings import Settings
from loralint.model import Unknown
from loralint.render import FORMATS, render
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
PROGRAM = """\
import os
from autotrain.params import LLMTrainingParams
from autotrain.project import AutoTrainProject

params = LLMTrainingParams(
    model="Qwen/Qwen2.5-7B",
    data_path="rows",
    trainer="sft",
    lr=3e-4,
    batch_size=2,
    peft=True,
    quantization="int4",
    lora_r=32,
    project_name="my-run",
)
project = AutoTrainProject(params=params, backend="local", process=True)
project.create()
"""


@pytest.fixture
def runs(tmp_path):
    def build(text):
        (tmp_path / "train.py").write_text(text)
        file = str(tmp_path / "train.py")
        return starts(read_file(file, file), Options(), Project(str(tmp_path)))

    return build


def findings(tmp_path, text, **given):
    (tmp_path / "train.py").write_text(text)
    (run,) = loralint.check(tmp_path / "train.py", settings=Settings(preview=True), **given).runs
    return {(one.rule, one.key, one.span.line) for one in run.findings}


def test_values_and_defaults(runs):
    (run,) = runs(PROGRAM)
    wanted = {
        "model.base": "Qwen/Qwen2.5-7B",
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.alpha": 32,
        "optim.lr": 3e-4,
        "batch.micro": 2,
        "batch.accumulation": 4,
        "quant.bits": 4,
        "train.task": "sft",
        "checkpoint.output_dir": "my-run",
    }
    assert {field: run.config.get(field).value for field in wanted} == wanted
    rate = run.config.get("optim.lr")
    assert (rate.key, rate.span.line, rate.span.column) == ("lr", 9, 8)
    assert run.config.reader.name == "autotrain"


def test_a_key_that_autotrain_drops(tmp_path):
    assert ("LL103", "learning_rate", 9) in findings(tmp_path, PROGRAM.replace("lr=3e-4", "learning_rate=3e-4"))
    assert ("LL102", "lora_ranks", 13) in findings(tmp_path, PROGRAM.replace("lora_r=", "lora_ranks="))
    assert not {one for one in findings(tmp_path, PROGRAM) if one[0] in ("LL102", "LL103")}


def test_blocks_longer_than_rows_may_be(tmp_path):
    told = findings(tmp_path, PROGRAM.replace("batch_size=2", "block_size=4096"))
    assert any(key == "block_size" for _, key, _ in told)
    told = findings(tmp_path, PROGRAM.replace("batch_size=2", "block_size=4096, model_max_length=4096"))
    assert not any(key == "block_size" for _, key, _ in told)


def test_what_is_not_seen_is_unknown(runs):
    (run,) = runs(PROGRAM.replace("lr=3e-4", "**more"))
    assert isinstance(run.config.get("optim.lr").value, Unknown)
    (run,) = runs(PROGRAM.replace("3e-4", "rate()"))
    assert isinstance(run.config.get("optim.lr").value, Unknown)


def test_classes_of_other_tasks_have_no_defaults_that_are_known(runs):
    (run,) = runs(PROGRAM.replace("LLMTrainingParams", "VLMTrainingParams").replace('    trainer="sft",\n', ""))
    assert run.config.get("adapter.rank").value == 32
    assert run.config.get("adapter.alpha").value is None


@pytest.mark.parametrize(
    "text",
    [
        PROGRAM.replace("from autotrain.", "from mine."),
        PROGRAM.partition("project =")[0].replace("from autotrain.project import AutoTrainProject\n", ""),
        "# autotrain: see Params(\nprint(1)\n",
    ],
)
def test_programs_that_train_nothing_of_it(runs, text):
    assert not runs(text)


def test_no_format_shows_a_token(tmp_path):
    text = PROGRAM.replace("peft=True", f'push_to_hub=True, token="{TOKEN}", api_key="notoneofashape17"')
    text = text.replace("params =", f'os.environ["HF_TOKEN"] = "{TOKEN}"\nparams =')
    (tmp_path / "train.py").write_text(text)
    report = loralint.check(tmp_path, settings=Settings(preview=True), show_settings=True)
    (run,) = report.runs
    assert {one.key for one in run.findings if one.rule == "LL120"} == {"token", "HF_TOKEN"}
    for name in FORMATS:
        shown = render(name, report, color=False)
        assert TOKEN not in shown
        assert "notoneofashape17" not in shown
