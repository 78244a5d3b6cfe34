"""Launches in notebooks and Python programs, with the files that are written before them."""

from __future__ import annotations

import json

import pytest

from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.sessions import launching
from loralint.run.starts import starts
from loralint.source.edit import insert_pair, set_value
from loralint.source.read import read_file

TRAIN = """\
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
args = SFTConfig(output_dir="out", learning_rate=1e-4, gradient_accumulation_steps=8, deepspeed="ds.json")
SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, peft_config=LoraConfig(r=16)).train()
"""
CONFIG = (
    "stage: sft\nfinetuning_type: lora\nmodel_name_or_path: Qwen/Qwen2.5-7B\nlora_rank: 16\n"
    "# é\nlearning_rate: 5.0e-4\n"
)


@pytest.fixture
def folder(tmp_path):
    """A folder with these files; `notebook(*cells)` and `program(text)` are the runs of one in it."""

    class Folder:
        root = tmp_path
        text = ""

        def write(self, name, text):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

        def _runs(self, name):
            document = read_file(str(tmp_path / name), name)
            self.text = document.text
            return starts(document, Options(), Project(str(tmp_path)))

        def notebook(self, *cells):
            found = [{"cell_type": "code", "metadata": {}, "source": cell.splitlines(keepends=True)} for cell in cells]
            self.write("n.ipynb", json.dumps({"cells": found, "metadata": {}, "nbformat": 4}, indent=1))
            return self._runs(str(tmp_path / "n.ipynb"))

        def program(self, text):
            self.write("start.py", text)
            return self._runs(str(tmp_path / "start.py"))

    return Folder()


def place(value):
    return value.span.cell, value.span.line, value.span.column


def written(folder, value):
    return folder.text[value.span.start : value.span.end]


def test_a_typed_line_starts_a_run_at_its_place_in_the_cell(folder):
    folder.write("train.yaml", CONFIG)
    (run,) = folder.notebook(
        "# é\nx = 1\n",
        "!pip install transformers==4.45.0\n!llamafactory-cli train \\\n    train.yaml learning_rate=2e-5\n",
    )
    rate = run.config.get("optim.lr")
    assert (rate.value, rate.origin, place(rate), written(folder, rate)) == (2e-5, "flag", (2, 3, 30), "2e-5")
    (hidden,) = rate.shadowed
    assert (hidden.value, hidden.span.file, hidden.span.cell) == (5e-4, str(folder.root / "train.yaml"), None)
    assert run.config.versions.of("transformers") == "4.45.0"


def test_a_shell_cell_keeps_its_variables_to_itself(folder):
    first, second = folder.notebook(
        "%env CUDA_VISIBLE_DEVICES=0,1\n",
        '%%bash\nexport NPROC_PER_NODE=4\nLR="3e-4"\ntrl sft --lora_r 8 --use_peft --learning_rate $LR\n',
        "!trl sft --lora_r 8 --use_peft --learning_rate $LR\n",
    )
    rate = first.config.get("optim.lr")
    assert (rate.value, place(rate), written(folder, rate)) == (3e-4, (2, 3, 5), "3e-4")
    assert first.config.get("dist.launcher_processes_per_node").value == 4
    assert not second.config.get("optim.lr").known
    assert not second.config.get("dist.launcher_processes_per_node").known
    devices = second.config.get("dist.visible_devices")
    assert (devices.value, place(devices), written(folder, devices)) == (2, (1, 1, 27), "0,1")


def test_python_fills_its_names_into_a_typed_line(folder):
    cells = (
        'LR = 3e-4\nNAME = "Qwen/Qwen2.5-7B"\n',
        "!trl sft --use_peft --model_name_or_path {NAME} --learning_rate $LR\n",
        "LATE = 1\n",
    )
    (run,) = folder.notebook(*cells)
    rate, model = run.config.get("optim.lr"), run.config.get("model.base")
    assert (rate.value, place(rate), written(folder, rate)) == (3e-4, (1, 1, 6), "3e-4")
    assert (model.value, place(model), written(folder, model)) == ("Qwen/Qwen2.5-7B", (1, 2, 9), "Qwen/Qwen2.5-7B")


def test_variables_of_the_program_count_from_then_on(folder):
    first, second = folder.notebook(
        "import os\n!trl sft --use_peft --lora_r 8\n",
        'os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"\n!trl sft --use_peft --lora_r 8\n',
    )
    assert not first.config.get("dist.visible_devices").known
    devices = second.config.get("dist.visible_devices")
    assert (devices.value, devices.origin, place(devices)) == (2, "env", (2, 1, 38))


def test_cells_that_write_files_join_the_launch_that_names_them(folder):
    (run,) = folder.notebook(
        "%%writefile ds.json\n" + json.dumps({"gradient_accumulation_steps": 4}),
        "%%writefile acc.yaml\ncompute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 2\n",
        f"%%writefile train.py\n{TRAIN}",
        "!accelerate launch --config_file acc.yaml train.py\n",
    )
    rate = run.config.get("optim.lr")
    assert (rate.value, place(rate), written(folder, rate)) == (1e-4, (3, 4, 50), "1e-4")
    assert place(run.config.get("batch.accumulation")) == (3, 4, 84)
    assert place(run.config.get("dist.ds_accumulation")) == (1, 2, 33)
    assert place(run.config.get("dist.launcher_processes")) == (2, 4, 16)
    assert run.notes == ()


@pytest.mark.parametrize(
    ("dump", "name"),
    [
        ('json.dump(args, open("train.json", "w", encoding="utf-8"), indent=2)', "train.json"),
        ('with open("train.yaml", "w") as f:\n    yaml.dump(args, f)', "train.yaml"),
        ('Path("train.json").write_text(json.dumps(args))', "train.json"),
    ],
)
def test_a_dictionary_that_is_dumped_is_a_config(folder, dump, name):
    cell = (
        "import json, yaml\nfrom pathlib import Path\n"
        'args = dict(stage="sft", model_name_or_path="Qwen/Qwen2.5-7B", finetuning_type="lora",\n'
        '            learning_rate=5e-5, lora_rank=2 * 8, output_dir=f"{x}/out", do_train=True)\n' + dump + "\n"
    )
    (run,) = folder.notebook(cell, f"!llamafactory-cli train {name}\n")
    rate, rank = run.config.get("optim.lr"), run.config.get("adapter.rank")
    assert (rate.value, place(rate), written(folder, rate)) == (5e-5, (1, 4, 27), "5e-5")
    assert (rank.value, place(rank)) == (16, (1, 4, 43))
    assert not run.config.get("run.output_dir").known
    assert run.config.reader.name == "llamafactory"


def test_a_text_that_is_written_is_a_config_line_by_line(folder):
    cell = f'with open("train.yaml", "w") as f:\n    f.write("""{CONFIG}""")\n'
    (run,) = folder.notebook(cell, "!llamafactory-cli train train.yaml\n")
    rate = run.config.get("optim.lr")
    assert (rate.value, place(rate), written(folder, rate)) == (5e-4, (1, 7, 16), "5.0e-4")


def test_the_name_of_a_written_file_may_hold_a_variable(folder):
    (run,) = folder.notebook(
        'work = "conf"\n', "", f"%%writefile $work/train.yaml\n{CONFIG}", "!llamafactory-cli train {work}/train.yaml\n"
    )
    rate = run.config.get("optim.lr")
    assert (rate.value, place(rate), written(folder, rate)) == (5e-4, (3, 7, 16), "5.0e-4")


def test_the_file_counts_that_was_written_last_before_the_launch(folder):
    cells = [f"%%writefile c.yaml\n{CONFIG.replace('5.0e-4', rate)}" for rate in ("1.0e-4", "2.0e-4")]
    first, second = folder.notebook(
        cells[0], "!llamafactory-cli train c.yaml\n", cells[1], "!llamafactory-cli train c.yaml\n"
    )
    assert [run.config.get("optim.lr").value for run in (first, second)] == [1e-4, 2e-4]


def test_a_fault_of_a_written_file_is_told(folder):
    (run,) = folder.notebook(f"%%writefile c.yaml\n{CONFIG}lora_target: [a\n", "!llamafactory-cli train c.yaml\n")
    (fault,) = [one for one in run.observations if one.kind == "syntax"]
    assert (fault.value.span.cell, fault.effect) == (1, "crash")


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('subprocess.run(["trl", "sft", "--use_peft", "--learning_rate", "3e-4"], check=True)', (None, 2, 64)),
        ('os.system("trl sft --use_peft --learning_rate 3e-4")', (None, 2, 47)),
        ('subprocess.check_call(shlex.split("trl sft --use_peft --learning_rate 3e-4"))', (None, 2, 71)),
        ('subprocess.Popen("trl sft --use_peft --learning_rate=3e-4", shell=True)', (None, 2, 54)),
        ('get_ipython().system("trl sft --use_peft --learning_rate 3e-4")', (None, 2, 58)),
    ],
)
def test_a_program_starts_a_run(folder, line, place):
    (run,) = folder.program(f"import os, shlex, subprocess\n{line}\n")
    rate = run.config.get("optim.lr")
    assert (rate.value, (rate.span.cell, rate.span.line, rate.span.column)) == (3e-4, place)
    assert written(folder, rate).strip('"') == "3e-4"


def test_a_program_starts_a_run_in_a_folder_with_what_it_writes(folder):
    folder.write("work/train.py", TRAIN)
    (run,) = folder.program(
        "import json, subprocess, sys\n"
        'json.dump({"gradient_accumulation_steps": 4}, open("work/ds.json", "w"))\n'
        'subprocess.run(["accelerate", "launch", "--num_processes", str(2), "train.py"], cwd="work")\n'
    )
    found = run.config.get("dist.ds_accumulation")
    assert (found.value, found.span.line, found.span.column) == (4, 2, 43)
    assert run.config.get("dist.launcher_processes").value == 2


def test_what_nobody_knows_starts_nothing_or_is_unknown(folder):
    (run,) = folder.program(
        "import subprocess, sys\ncmd = build()\nsubprocess.run(cmd)\nsubprocess.run(['echo', 'train.py'])\n"
        "subprocess.run([sys.executable, '-m', 'trl.scripts.sft', '--use_peft', '--learning_rate', sys.argv[1]])\n"
    )
    assert not run.config.get("optim.lr").known


def test_what_stands_in_a_text_of_a_program_is_not_edited(folder):
    lines = "import os\nos.environ['ACCELERATE_USE_FSDP'] = '1'\nos.system('trl sft --lora_r 8 --learning_rate 5')\n"
    (run,) = folder.program(lines)
    for document in {id(layer.document): layer.document for layer in run.config.layers}.values():
        with pytest.raises(ValueError, match="text of a program"):
            set_value(document, document.root.pairs[0].value, "1")
    (run,) = folder.notebook("!trl sft --lora_r 8\n")
    (flags, *_) = run.config.layers
    with pytest.raises(ValueError, match="text of a program"):
        insert_pair(flags.document, flags.document.root.pairs[0], "lora_alpha", "16")


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("import subprocess\nsubprocess.run(['accelerate', 'launch', 'a.py'])\n", True),
        ("import os\nos.system('WANDB_MODE=offline bin/torchrun a.py')\n", True),
        ("import subprocess\nsubprocess.run('''\n    axolotl train a.yml\n''', shell=True)\n", True),
        ("import subprocess, sys\nsubprocess.run([sys.executable, 'train.py'])\n", True),
        ("'''Checks accelerate and deepspeed.'''\nimport deepspeed, subprocess\nsubprocess.run(['ls'])\n", False),
        ("#!/usr/bin/env python\nimport subprocess\n# see train.py\nsubprocess.run(['git', 'log'])\n", False),
    ],
)
def test_only_programs_that_name_a_training_are_read_for_launches(tmp_path, text, reads):
    file = tmp_path / "tool.py"
    file.write_text(text)
    assert (launching(read_file(str(file), "tool.py"), {}.get) is not None) is reads
