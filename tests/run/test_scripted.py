"""A config that is handed to a script is one run with it, and keys of the script itself are no fault of the config."""

from __future__ import annotations

import pytest

from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

RECIPE = """\
model_name_or_path: m
use_peft: true
lora_r: 16
learning_rate: 1.0e-4
output_dir: o
own_key: 3
lerning_rate: 1
"""
TRAINS = """
trainer = SFTTrainer(model=model_args.model_name_or_path, args=args, peft_config=get_peft_config(model_args))
trainer.train()
"""
STRICT = f"""
from dataclasses import dataclass
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser, get_peft_config
@dataclass
class Ours:
    own_key: int = 1
    warmup_ratio: str = "none"
ours, args, model_args = TrlParser((Ours, SFTConfig, ModelConfig)).parse_args_and_config()
{TRAINS}"""
ELSEWHERE = f"""
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser, get_peft_config
from ours.configs import Ours
ours, args, model_args = TrlParser((Ours, SFTConfig, ModelConfig)).parse_args_and_config()
{TRAINS}"""


@pytest.fixture
def runs(tmp_path):
    """runs(script, recipe, line) -> what the line starts beside a script and a recipe."""

    def build(script, recipe=RECIPE, line="accelerate launch --num_processes 2 train.py --config recipe.yaml\n"):
        for name, text in (("train.py", script), ("recipe.yaml", recipe), ("run.sh", line)):
            (tmp_path / name).write_text(text)
        file = str(tmp_path / "run.sh")
        return starts(read_file(file, file), Options(), Project(str(tmp_path)))

    return build


def unknown(run):
    return [one.value.key for one in run.observations if one.kind == "unknown"]


def test_a_config_and_the_script_that_reads_it_are_one_run(runs):
    (run,) = runs(STRICT, line="python train.py --config recipe.yaml --learning_rate 2e-5\n")
    rate = run.config.get("optim.lr")
    assert (rate.value, rate.shadowed[0].value) == (2e-5, 1e-4)
    assert [one.file.rpartition("/")[2] for one in run.documents] == ["run.sh", "recipe.yaml", "train.py"]
    assert [event.kind for event in run.events] == ["trainer", "train"]
    assert run.config.get("adapter.rank").value == 16


def test_keys_that_a_script_declares_are_its_own_and_others_are_refused(runs):
    (run,) = runs(STRICT, RECIPE + "warmup_ratio: all\nforeign: 1\n")
    assert unknown(run) == ["lerning_rate", "foreign"]


def test_beside_classes_that_nobody_sees_only_slips_are_told(runs):
    (run,) = runs(ELSEWHERE, RECIPE + "foreign: 1\n")
    assert unknown(run) == ["lerning_rate"]


def test_a_script_with_the_trainer_of_transformers_takes_no_defaults_of_trl(runs):
    (run,) = runs("""
from transformers import HfArgumentParser, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
(args,) = HfArgumentParser(TrainingArguments).parse_yaml_file("recipe.yaml")
Trainer(model=get_peft_model(model, LoraConfig(r=4)), args=args).train()
""", "use_peft: true\nlora_r: 16\nmodel_name_or_path: m\nlearning_rate: 1.0e-4\noutput_dir: o\n")  # fmt: skip
    assert run.config.reader.name == "transformers"
    assert run.config.get("precision.bf16").value is False


def test_of_a_program_of_its_own_kind_no_key_is_unknown_and_nothing_is_certain(runs):
    (run,) = runs("from lmflow.pipeline import AutoPipeline\nAutoPipeline.run()\n")
    assert unknown(run) == []
    assert run.config.reader.guessed
