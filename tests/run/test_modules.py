"""Programs of several files: what a module of the repository makes has its place there."""

from __future__ import annotations

import ast
import os

import pytest

import loralint
from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

MAIN = """\
from peft import get_peft_model
from transformers import AutoModelForCausalLM, Trainer
{imports}
model = get_peft_model(AutoModelForCausalLM.from_pretrained({base}), {adapter})
Trainer(model=model, args={arguments}).train()
"""
SETTINGS = """\
from peft import LoraConfig
from transformers import TrainingArguments
BASE = "Qwen/Qwen2.5-7B"
RANK = 8
adapter = LoraConfig(r=RANK, lora_alpha=16)
arguments = TrainingArguments(output_dir="out", learning_rate=3e-4)
def make_adapter(rank=RANK, alpha=None):
    return LoraConfig(r=rank, lora_alpha=alpha or 2 * rank)
"""


def main(imports, base="BASE", adapter="adapter", arguments="arguments"):
    return MAIN.format(imports=imports, base=base, adapter=adapter, arguments=arguments)


def whole(module):
    return [f"{module}.{name}" for name in ("BASE", "adapter", "arguments")]


def place(run, found, field):
    value = found.config.get(field)
    where = (value.span.file.removeprefix(f"{run.root}/"), value.span.line) if value.span else ()
    return (None if isinstance(value.value, Unknown) else value.value, *where)


NAMES = "from {} import BASE, adapter, arguments"


@pytest.mark.parametrize(
    ("script", "module", "text"),
    [
        ("train.py", "settings.py", main(NAMES.format("settings"))),
        ("train.py", "settings.py", main("from settings import *")),
        ("train.py", "settings/__init__.py", main(NAMES.format("settings"))),
        ("train.py", "settings/lora.py", main(NAMES.format("settings.lora"))),
        ("train.py", "settings/lora.py", main("import settings.lora", *whole("settings.lora"))),
        ("train.py", "settings.py", main("import settings as s", *whole("s"))),
        ("job/train.py", "job/settings.py", main(NAMES.format(".settings"))),
        ("job/train.py", "job/settings.py", main("from . import settings", *whole("settings"))),
        ("job/runs/train.py", "job/settings.py", main(NAMES.format("..settings"))),
        ("job/runs/train.py", "job/settings.py", main(NAMES.format("job.settings"))),
        ("scripts/train.py", "src/job/settings.py", main(NAMES.format("job.settings"))),
    ],
)  # fmt: skip
def test_names_of_a_module_hold_what_it_gave_them(run, script, module, text):
    found = run({script: text, module: SETTINGS}, script)
    assert place(run, found, "model.base") == ("Qwen/Qwen2.5-7B", module, 3)
    assert place(run, found, "adapter.rank") == (8, module, 4)
    assert place(run, found, "optim.lr") == (3e-4, module, 6)
    assert [one.file for one in found.documents] == [f"{run.root}/{script}", f"{run.root}/{module}"]
    assert run.around.is_claimed(f"{run.root}/{module}")


def test_functions_are_followed_with_what_they_are_given(run):
    text = main("from settings import BASE, arguments, make_adapter", adapter="make_adapter(32)")
    found = run({"train.py": text, "settings.py": SETTINGS})
    assert place(run, found, "adapter.rank") == (32, "train.py", 4)
    assert place(run, found, "adapter.alpha") == (64, "settings.py", 8)


def test_a_module_may_import_others_also_in_a_circle(run):
    lora = "from job.names import RANK\nfrom peft import LoraConfig\nadapter = LoraConfig(r=RANK)\n"
    names = "import job.lora\nRANK = 4\n"
    text = main("from job.lora import adapter", "'x/y'", arguments="None")
    found = run({"train.py": text, "job/lora.py": lora, "job/names.py": names})
    assert place(run, found, "adapter.rank") == (4, "job/names.py", 2)


PARSER = """\
import argparse
def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--rank", type=int, default=8)
    return parser.parse_args()
"""
USES = """\
from config import get_args
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
args = get_args()
SFTTrainer("x/y", args=SFTConfig(learning_rate=args.rate), peft_config=LoraConfig(r=args.rank)).train()
"""


def test_a_parser_of_a_module_has_its_defaults_and_takes_the_flags(run):
    files = {"train.py": USES, "config.py": PARSER, "run.sh": "python train.py --rank 64\n"}
    assert place(run, run(files), "optim.lr") == (2e-4, "config.py", 4)
    found = run(files, "run.sh")
    assert place(run, found, "optim.lr") == (2e-4, "config.py", 4)
    assert place(run, found, "adapter.rank") == (64, "run.sh", 1)


CLASSES = """\
from dataclasses import dataclass, field
from transformers import TrainingArguments
@dataclass
class Own(TrainingArguments):
    learning_rate: float = field(default=1e-5)
@dataclass
class Lora:
    rank: int = 16
"""


def test_dataclasses_of_a_module_fill_a_parser(run):
    text = main(
        "from peft import LoraConfig\nfrom transformers import HfArgumentParser\nfrom arguments import Lora, Own\n"
        "lora, own = HfArgumentParser((Lora, Own)).parse_args_into_dataclasses()",
        "'x/y'", "LoraConfig(r=lora.rank)", "own",
    )  # fmt: skip
    found = run({"train.py": text, "arguments.py": CLASSES})
    assert place(run, found, "adapter.rank") == (16, "arguments.py", 8)
    assert place(run, found, "optim.lr") == (1e-5, "arguments.py", 5)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"settings.py": "def broken(:\n"},
        {"settings.py": "from elsewhere import *\nBASE = adapter = arguments = f()\n"},
        {"settings/__init__.py": ""},
        {"a/settings.py": SETTINGS},
    ],
)
def test_what_is_not_seen_stays_unknown(run, files):
    found = run({"train.py": main(NAMES.format("settings")), **files})
    assert [place(run, found, field)[0] for field in ("adapter.rank", "model.base", "optim.lr")] == [None] * 3


def test_one_of_several_above_is_not_guessed(run):
    text = main(NAMES.format("settings"))
    found = run({"a/b/train.py": text, "a/settings.py": SETTINGS, "settings.py": SETTINGS}, "a/b/train.py")
    assert place(run, found, "adapter.rank")[0] is None


def test_a_folder_called_as_a_library_is_not_the_library(run):
    files = {"train.py": main("from peft import LoraConfig", "'x/y'", "LoraConfig(r=8)", "None")}
    found = run({**files, "peft/__init__.py": "def LoraConfig(r): return None\n"})
    assert place(run, found, "adapter.rank") == (8, "train.py", 4)


def test_no_import_leads_out_of_the_root(tmp_path):
    (tmp_path / "settings.py").write_text(SETTINGS)
    inner = tmp_path / "root"
    inner.mkdir()
    (inner / "train.py").write_text(main(NAMES.format("settings")))
    os.symlink(tmp_path / "settings.py", inner / "linked.py")
    (inner / "other.py").write_text(main(NAMES.format("linked")))
    for name in ("train.py", "other.py"):
        (found,) = starts(read_file(str(inner / name), name), Options(), Project(str(inner)))
        assert not found.config.get("adapter.rank").known


def test_a_module_that_is_started_itself_stays_a_run_of_its_own(run):
    own = SETTINGS + "if __name__ == '__main__':\n    print(adapter)\n"
    run({"train.py": main(NAMES.format("settings")), "settings.py": own})
    assert not run.around.is_claimed(f"{run.root}/settings.py")


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("encode(AutoModel.from_pretrained('x/y'))", False),
        ("for row in rows:\n    model(row).loss.backward()\noptim.step()\nmodel.train()", True),
    ],
)
def test_what_modules_make_is_no_training_where_nothing_trains(run, text, runs):
    imports = "from transformers import HfArgumentParser\nfrom arguments import Own as TrainingArguments\n"
    script = imports + "(own,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n" + text + "\n"
    assert (run({"use.py": script, "arguments.py": CLASSES}, "use.py") is not None) is runs


def test_a_trainer_that_the_program_wrote_itself_is_not_the_library_s(run):
    text = main("from own import Trainer", "'x/y'", "lora", "args").replace(", Trainer\n", "\n")
    found = run(
        {"train.py": text, "own.py": "class Trainer:\n    def __init__(self, model, args, tokenizer=None): ...\n"}
    )
    assert [one.kind for one in found.observations] == []
    assert found.config.reader.guessed


def test_what_is_too_much_to_follow_costs_only_the_modules(run):
    body = f"x = [{'1,' * 120_000}]\n"
    text = main(f"{NAMES.format('settings')}\nimport big\nfrom peft import LoraConfig", adapter="LoraConfig(r=4)")
    found = run({"train.py": text, "settings.py": SETTINGS, "big.py": body})
    assert place(run, found, "adapter.rank")[0] == 4


def test_findings_and_ignore_comments_stand_in_the_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(main(NAMES.format("settings")))
    rate = SETTINGS.replace("3e-4", "3e-1")
    (tmp_path / "settings.py").write_text(rate)
    (only,) = loralint.check(".").runs
    told = {(one.span.file, one.span.line) for one in only.findings if one.key.endswith("learning_rate")}
    assert (only.files, told) == (("train.py", "settings.py"), {("settings.py", 6)})
    assert all(one.fix is None for one in only.findings if one.span.file == "settings.py")
    codes = ", ".join(sorted({one.rule for one in only.findings}))
    (tmp_path / "settings.py").write_text(rate.replace("3e-1)", f"3e-1)  # loralint: ignore[{codes}] a test"))
    (again,) = loralint.check(".").runs
    assert all(one.suppressed for one in again.findings if one.span.file == "settings.py" and one.tier != "S")


def test_programs_that_share_more_modules_than_a_few_have_each_parsed_once(tmp_path, monkeypatch):
    parsed = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda text, *rest: parsed.append(text) or parse(text, *rest))
    names = [f"part{number}" for number in range(20)]
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"{name.upper()} = 1  # {tmp_path}\n")
    program = "".join(f"from {name} import {name.upper()}\n" for name in names) + main("from settings import *")
    (tmp_path / "settings.py").write_text(SETTINGS)
    project = Project(str(tmp_path))
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(program + f"# {name}\n")
        file = str(tmp_path / name)
        assert len(starts(read_file(file, file), Options(), project)) == 1
    assert sorted(text for text in parsed if str(tmp_path) in text) == sorted(
        (tmp_path / f"{name}.py").read_text() for name in names
    )
