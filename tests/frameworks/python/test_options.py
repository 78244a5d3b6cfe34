"""The flags of a program's own parser: all of them, or none where it may take others."""

from __future__ import annotations

import pytest

import loralint
from loralint.frameworks.python.options import taken
from loralint.source.python import read_script
from loralint.source.read import read_file

PARSER = """\
import argparse
parser = argparse.ArgumentParser(description="x")
parser.add_argument("--lr", "--learning-rate", type=float)
group = parser.add_argument_group("more")
group.add_argument("-b", "--batch_size", type=int)
group.add_argument("--packing", action=argparse.BooleanOptionalAction)
"""
KNOWN = {"-h", "--help", "--lr", "--learning-rate", "-b", "--batch_size", "--packing", "--no-packing"}


@pytest.fixture
def flags(tmp_path):
    def read(text):
        (tmp_path / "train.py").write_text(text)
        file = str(tmp_path / "train.py")
        return taken(read_script(read_file(file, file)))

    return read


def test_every_spelling_in_the_parser_and_its_groups(flags):
    assert flags(PARSER + "args = parser.parse_args()\n") == KNOWN
    inside = "".join(f"    {line}\n" for line in PARSER.splitlines())
    assert flags(f"def options():\n{inside}    return parser.parse_args()\nargs = options()\n") == KNOWN


@pytest.mark.parametrize(
    "more",
    [
        "args, rest = parser.parse_known_args()\n",
        "parser = deepspeed.add_config_arguments(parser)\nargs = parser.parse_args()\n",
        "for name in NAMES:\n    parser.add_argument(name)\nargs = parser.parse_args()\n",
        "if DEBUG:\n    parser.add_argument('--debug')\nargs = parser.parse_args()\n",
        "parser.add_argument(f'--{x}')\nargs = parser.parse_args()\n",
        "sub = parser.add_subparsers()\nargs = parser.parse_args()\n",
        "other = argparse.ArgumentParser(parents=[parser])\nargs = other.parse_args()\n",
        "args = parser.parse_args([])\n",
        "import sys\nif '--fast' in sys.argv:\n    sys.argv.remove('--fast')\nargs = parser.parse_args()\n",
        "def more(p): p.add_argument('--x')\nARGS.register(more)\nargs = parser.parse_args()\n",
        "",
    ],
)
def test_nothing_is_known_where_the_program_may_take_more(flags, more):
    assert flags(PARSER + more) == frozenset()


FILLED = """\
from dataclasses import dataclass, field
from transformers import HfArgumentParser, TrainingArguments
@dataclass
class Ours:
    lora_r: int = field(default=8)
"""


def test_a_parser_of_dataclasses_takes_their_fields_and_those_of_the_libraries(flags):
    own = flags(FILLED + "(ours,) = HfArgumentParser(Ours).parse_args_into_dataclasses()\n")
    assert own == {"-h", "--help", "--lora_r", "--lora-r", "--no_lora_r", "--no-lora-r"}
    both = flags(FILLED + "a, b = HfArgumentParser((Ours, TrainingArguments)).parse_args_into_dataclasses()\n")
    assert {"--lora_r", "--learning_rate", "--evaluation_strategy"} < both


@pytest.mark.parametrize(
    "end",
    [
        "a, b = HfArgumentParser((Ours, Theirs)).parse_args_into_dataclasses()\n",
        "a, *b = HfArgumentParser((Ours,)).parse_args_into_dataclasses(return_remaining_strings=True)\n",
        "(a,) = HfArgumentParser((Ours,)).parse_yaml_file('x.yaml')\n",
    ],
)
def test_classes_that_nobody_sees_and_parsers_that_pass_on_the_rest(flags, end):
    assert flags("from theirs import Theirs\n" + FILLED + end) == frozenset()


def test_a_class_that_builds_on_a_librarys_takes_its_fields_too(flags):
    text = "from dataclasses import dataclass\nimport transformers, trl\nfrom trl import SFTConfig as Base\n"
    end = "(x,) = transformers.HfArgumentParser(Own).parse_args_into_dataclasses()\n"
    for base in ("transformers.TrainingArguments", "trl.SFTConfig", "Base"):
        found = flags(f"{text}@dataclass\nclass Own({base}):\n    rank: int = 8\n{end}")
        assert {"--rank", "--learning_rate", "--output_dir", "--local_rank"} < found, base
        assert "--ranks" not in found


@pytest.mark.parametrize(
    "own",
    [
        "from common import Base\n@dataclass\nclass Own(Base):\n    lr: float = 1e-4\n",
        "from common import TrainingArguments as Base\n@dataclass\nclass Own(Base):\n    lr: float = 1e-4\n",
        "from common import SFTConfig as Own\n",
        "Own = make()\n",
        "@dataclass\nclass Own:\n    r: int = field(default=8, metadata={'aliases': ['--rank']})\n",
        "class HfArgumentParser(HfArgumentParser):\n    pass\n@dataclass\nclass Own:\n    r: int = 8\n",
    ],
)
def test_classes_with_a_part_that_nobody_sees_refuse_nothing(flags, own):
    assert flags(FILLED + own + "(x,) = HfArgumentParser(Own).parse_args_into_dataclasses()\n") == frozenset()


@pytest.mark.parametrize(("mark", "first"), [("@staticmethod", ""), ("@classmethod", "cls, "), ("", "")])
def test_a_parser_filled_by_a_static_or_a_class_method(flags, mark, first):
    more = f"class More:\n    {mark}\n    def fill({first}p):\n        p.add_argument('--more')\n"
    assert flags(PARSER + more + "More.fill(parser)\nargs = parser.parse_args()\n") == KNOWN | {"--more"}


def test_a_script_that_fills_only_classes_of_the_libraries(flags):
    text = "from trl import ModelConfig, ScriptArguments, SFTConfig, TrlParser\n"
    text += "a, b, c = TrlParser((ScriptArguments, SFTConfig, ModelConfig)).parse_args_and_config()\n"
    found = flags(text)
    assert {"--dataset_name", "--lora_r", "--learning_rate", "--config", "--torch_dtype", "--max_seq_length"} < found
    assert "--learning_rte" not in found


def test_a_default_that_is_a_member_of_an_enumeration_is_its_word(tmp_path):
    (tmp_path / "train.py").write_text(
        "from dataclasses import dataclass, field\n"
        "from peft import LoraConfig, get_peft_model\n"
        "from transformers import AutoModelForCausalLM, HfArgumentParser, IntervalStrategy\n"
        "from transformers import Trainer, TrainingArguments\n"
        "@dataclass\n"
        "class Mine:\n"
        "    save_strategy: IntervalStrategy = field(default=IntervalStrategy.EPOCH)\n"
        "(mine,) = HfArgumentParser(Mine).parse_args_into_dataclasses()\n"
        "args = TrainingArguments(output_dir='out', learning_rate=1e-4, bf16=True, save_strategy=mine.save_strategy)\n"
        "model = get_peft_model(AutoModelForCausalLM.from_pretrained('gpt2'), LoraConfig(r=8))\n"
        "Trainer(model=model, args=args, train_dataset=rows).train()\n"
    )
    (run,) = loralint.check(str(tmp_path)).runs
    assert [one.rule for one in run.findings] == []
