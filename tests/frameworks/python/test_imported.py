"""Names that a library has in other letters, and notebooks that parse a command line."""

from __future__ import annotations

import json

import pytest

from loralint.api import check

SCRIPT = """
{imports}
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows).train()
"""
CELLS = """
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
{parse}
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
Trainer(model=model, args=args, train_dataset=rows).train()
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from peft import LoRAConfig", ["peft.LoRAConfig"]),
        ("from peft import LoraConfig, task_type", ["peft.task_type"]),
        ("from transformers import AutoModelForCasualLM", ["transformers.AutoModelForCasualLM"]),
        ("from transformers import BitsandBytesConfig as Few", ["transformers.BitsandBytesConfig"]),
        (
            "from transformers import DataCollatorForLanguageModelling",
            ["transformers.DataCollatorForLanguageModelling"],
        ),
        ("from trl import SFTrainer", []),  # could be another class of some release
        ("from transformers import trainer, trainer_callback", []),
        ("from peft import peft_model, PeftModel", []),
        ("from ours import LoRAConfig", []),
        ("try:\n    from transformers import LLaMATokenizer\nexcept ImportError:\n    LLaMATokenizer = None", []),
        ("if False:\n    from peft import AutoModelForPeftCausalLM", []),
        ("if ready:\n    from peft import AutoModelForPeftCausalLM", ["peft.AutoModelForPeftCausalLM"]),
        ("# pip install git+https://github.com/zphang/transformers\nfrom transformers import LLaMATokenizer", []),
        ("from transformers import Llama4ForCausalLM, DefaultDataCollator", []),
    ],
)
def test_names_in_other_letters(run, line, found):
    _, layer = run(SCRIPT.format(imports=line))
    assert [one.value.key for one in layer.observations if one.kind == "import-missing"] == found


def notebook(tmp_path, *cells):
    made = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text} for text in cells
    ]
    whole = {"cells": made, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "train.ipynb").write_text(json.dumps(whole))
    report = check(tmp_path)
    return [one.key for run in report.runs for one in run.findings if one.rule == "LL131"]


@pytest.mark.parametrize(
    ("parse", "found"),
    [
        ("(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()", True),
        ("(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(['--output_dir', 'out'])", False),
        (
            "args, _ = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(return_remaining_strings=True)",
            False,
        ),
        (
            "import sys; sys.argv = ['x']; args = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()[0]",
            False,
        ),
    ],
)
def test_a_parser_in_a_notebook(tmp_path, parse, found):
    assert notebook(tmp_path, CELLS.format(parse=parse)) == (["parse_args_into_dataclasses"] if found else [])


def test_a_cell_that_writes_a_script(tmp_path):
    parse = "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()"
    cells = ["%%writefile train.py\n" + CELLS.format(parse=parse), "!python train.py --output_dir out"]
    assert notebook(tmp_path, *cells) == []
