"""Programs that name nothing of a training and start that of another file."""

from __future__ import annotations

import json

import pytest

from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

TRAINER = """\
import argparse
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def run(lr=1e-4, rank=8, bf16=False, base="Qwen/Qwen2.5-7B"):
    model = AutoModelForCausalLM.from_pretrained(base)
    model = get_peft_model(model, LoraConfig(r=rank, lora_alpha=16))
    args = TrainingArguments(output_dir="out", learning_rate=lr, bf16=bf16)
    Trainer(model=model, args=args).train()

def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--lora-rank", type=int, default=8)
    parser.add_argument("--bf16", action="store_true")
    args = parser.parse_args(argv)
    run(args.lr, args.lora_rank, args.bf16)

if __name__ == "__main__":
    main()
"""
CLASS = """\
from trainer import run
class Training:
    def __init__(self, rank=8, lr=1e-4):
        self.rank, self.lr = rank, lr
    def train(self):
        run(self.lr, self.rank)
"""
GUARD = 'if __name__ == "__main__":\n    '


def told(found):
    config = found.config
    values = [config.get(field).value for field in ("optim.lr", "adapter.rank", "precision.bf16")]
    return [None if isinstance(one, Unknown) else one for one in values]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("from trainer import main\n" + GUARD + "main()\n", [1e-4, 8, False]),
        ("from trainer import main\n" + GUARD + 'main(["--lr", "3e-4", "--lora-rank=32"])\n', [3e-4, 32, False]),
        ("from trainer import run\n" + GUARD + "run(lr=3e-4, rank=32)\n", [3e-4, 32, False]),
        ("from training import Training\n" + GUARD + "Training(rank=16).train()\n", [1e-4, 16, False]),
        ("import fire\nfrom trainer import run\n" + GUARD + "fire.Fire(run)\n", [1e-4, 8, False]),
        ("import trainer as t\n" + GUARD + "t.run(rank=4)\n", [1e-4, 4, False]),
        ("import runpy\n" + GUARD + 'runpy.run_module("trainer", run_name="__main__")\n', [1e-4, 8, False]),
        ("import runpy\n" + GUARD + 'runpy.run_path("trainer.py", run_name="__main__")\n', [1e-4, 8, False]),
        ("from importlib import import_module\n" + GUARD + 'import_module("trainer").run(2e-4)\n', [2e-4, 8, False]),
        (
            "import sys\nfrom trainer import main\n" + GUARD
            + 'sys.argv = ["x", "--lr", str(5e-4), "--bf16"]\n    main()\n',
            [5e-4, 8, True],
        ),
        (
            "import yaml\nfrom trainer import run\n" + GUARD
            + 'run(**yaml.safe_load(open("settings.yaml")))\n',
            [4e-4, 64, False],
        ),
    ],
)  # fmt: skip
def test_a_launcher_is_a_run_of_what_it_starts_with_what_it_hands_over(run, text, values):
    found = run(
        {"go.py": text, "trainer.py": TRAINER, "training.py": CLASS, "settings.yaml": "lr: 0.0004\nrank: 64\n"}, "go.py"
    )
    assert told(found) == values
    assert run.around.is_claimed(f"{run.root}/trainer.py")


@pytest.mark.parametrize(
    "line",
    ['sys.argv = ["x", *extra]', "sys.argv += extra", 'sys.argv.append("--bf16")', 'sys.argv[1:] = ["--lr", "1"]'],
)
def test_words_that_nobody_sees_leave_the_options_unknown(run, line):
    text = f"import sys\nfrom trainer import main\nfrom where import extra\n{GUARD}{line}\n    main()\n"
    assert told(run({"go.py": text, "trainer.py": TRAINER}, "go.py")) == [None, None, None]


@pytest.mark.parametrize(
    "line",
    ['sys.argv = [one for one in sys.argv if "local" not in one]', 'sys.argv.remove("x")', 'sys.argv[1] = "--lr=1"'],
)
def test_words_that_a_program_only_sorts_out_stay_those_of_the_launch(run, line):
    text = f"import sys\nfrom trainer import main\n{GUARD}{line}\n    main()\n"
    assert told(run({"go.py": text, "trainer.py": TRAINER}, "go.py")) == [1e-4, 8, False]


def test_a_package_may_hand_on_what_its_modules_have(run):
    files = {
        "job/__init__.py": "from .train import run\n",
        "job/train.py": TRAINER,
        "go.py": "from job import run\n" + GUARD + "run(rank=2)\n",
    }
    assert told(run(files, "go.py")) == [1e-4, 2, False]


def test_a_notebook_starts_what_it_imports(run, tmp_path):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["from trainer import run\n", "run(3e-4)"]}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assert told(run({"go.ipynb": json.dumps(book), "trainer.py": TRAINER}, "go.ipynb")) == [3e-4, 8, False]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("go.py", "from trainer import run\ndef handler(request):\n    run(request.lr)\n" + GUARD + "serve(handler)\n"),
        ("go.py", "from trainer import run\n\ndef pipeline():\n    run()\n"),
        ("go.py", "from trainer import NAMES\n" + GUARD + "print(NAMES)\n"),
        ("evaluate.py", "from trainer import run\n" + GUARD + "run()\n"),
        ("go.py", "import runpy\n" + GUARD + 'runpy.run_module("trainer")\n'),
    ],
)
def test_a_program_that_may_train_for_others_is_no_run(run, name, text):
    assert run({name: text, "trainer.py": TRAINER}, name) is None


def launched(tmp_path, line, files):
    for name, text in {"run.sh": line + "\n", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    around = Project(str(tmp_path))
    (found,) = starts(read_file(str(tmp_path / "run.sh"), str(tmp_path / "run.sh")), Options(), around)
    claimed = [name for name in files if around.is_claimed(str(tmp_path / name))]
    return told(found), claimed


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("python go.py --lr 2e-4", {"go.py": "from trainer import main\nmain()\n", "trainer.py": TRAINER}),
        ("python -m trainer --lr 2e-4", {"trainer.py": TRAINER}),
        ("torchrun --nproc_per_node 2 -m job.trainer --lr 2e-4", {"job/trainer.py": TRAINER}),
        ("cd sub && python -m job.trainer --lr 2e-4", {"sub/job/trainer.py": TRAINER}),
        ("accelerate launch -m job.trainer --lr 2e-4", {"src/job/trainer.py": TRAINER}),
        ("python -m job --lr 2e-4", {"job/__main__.py": "from job.t import main\nmain()\n", "job/t.py": TRAINER}),
    ],
)
def test_a_launch_gives_its_flags_to_what_its_program_starts(tmp_path, line, files):
    assert launched(tmp_path, line, files) == ([2e-4, 8, False], list(files))


def test_flags_do_not_arrive_where_the_program_makes_its_own_line(tmp_path):
    files = {"go.py": 'from trainer import main\nmain(["--lr", "1e-5"])\n', "trainer.py": TRAINER}
    assert launched(tmp_path, "python go.py --lora-rank 64", files) == ([1e-5, 8, False], list(files))


def test_launches_of_one_program_get_each_what_it_opens_for_them(tmp_path):
    program = (
        TRAINER.replace('if __name__ == "__main__":\n    main()\n', "import yaml\n")
        + 'run(**yaml.safe_load(open("own.yaml")))\n'
    )
    files = {"train.py": program, "run.sh": "python train.py\n" * 2}
    for name, rate in (("a", 0.0002), ("b", 0.0003), ("c", 0.0002)):
        files |= {f"{name}/own.yaml": f"lr: {rate}\n", f"{name}/run.sh": "python ../train.py\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    around = Project(str(tmp_path))
    several = [starts(read_file(str(one), str(one)), Options(), around) for one in sorted(tmp_path.rglob("run.sh"))]
    rates = [[run.config.get("optim.lr").value for run in found] for found in several]
    assert [[one for one in found if one != 1e-4] for found in rates[:3]] == [[0.0002], [0.0003], [0.0002]]
