"""Trainers that get the model's name, and load it themselves with keywords among their arguments."""

from __future__ import annotations

import pytest

from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

SCRIPT = """\
import argparse, os
from peft import LoraConfig
from transformers import BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer
parser = argparse.ArgumentParser()
parser.add_argument("--name", default="Qwen/Qwen2.5-7B")
parser.add_argument("--other", required=True)
options = parser.parse_args()
four, none = BitsAndBytesConfig(load_in_4bit=True), None
args = SFTConfig(output_dir="out"{keywords})
{later}
SFTTrainer(model={model}, args=args, peft_config=LoraConfig(r=8)).train()
"""


@pytest.fixture
def shown(tmp_path):
    """shown(model, ...) -> the value of a field of the script, None for what is not known."""

    def build(field, model="'a/b'", keywords="", later="", line=""):
        (tmp_path / "train.py").write_text(SCRIPT.format(model=model, keywords=keywords, later=later))
        (tmp_path / "run.sh").write_text(line)
        of = str(tmp_path / ("run.sh" if line else "train.py"))
        (found,) = starts(read_file(of, of), Options(), Project(str(tmp_path)))
        value = found.config.get(field).value
        return None if isinstance(value, Unknown) else value

    return build


@pytest.mark.parametrize(
    ("model", "line", "base"),
    [
        ("options.name", "", "Qwen/Qwen2.5-7B"),
        ("options.name", "python train.py --name x/y --other z\n", "x/y"),
        ("options.other", "python train.py --other x/y\n", "x/y"),
        ("options.other", "", None),
        ("os.environ.get('BASE', 'x/y')", "", "x/y"),
        ("load()", "", None),
        ("names[0]", "", None),
    ],
)
def test_a_name_may_come_from_the_command_line_and_the_environment(shown, model, line, base):
    assert shown("model.base", model, line=line) == base


@pytest.mark.parametrize(
    ("keywords", "later", "bits"),
    [
        ("", "", 16),
        (", model_init_kwargs={'dtype': 'bfloat16'}", "", 16),
        (", model_init_kwargs={'quantization_config': four}", "", 4),
        (", model_init_kwargs={'quantization_config': none}", "", 16),
        (", model_init_kwargs=dict(quantization_config=four)", "", 4),
        ("", "args.model_init_kwargs = {'quantization_config': four}", 4),
        ("", "args.model_init_kwargs = keywords()", None),
        (", model_init_kwargs=keywords()", "", None),
        (", model_init_kwargs={'quantization_config': four}", "BitsAndBytesConfig(load_in_8bit=True)", None),
    ],
)
def test_the_keywords_that_it_is_loaded_with_say_in_how_many_bits(shown, keywords, later, bits):
    assert shown("quant.bits", keywords=keywords, later=later) == bits
