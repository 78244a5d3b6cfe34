"""Programs whose functions Modal runs, and scripts that say in their comments what they are run with."""

from __future__ import annotations

import pytest

from loralint.frameworks.companions.installed import declared
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

TRAIN = """\
    from peft import LoraConfig
    from trl import SFTConfig, SFTTrainer
    args = SFTConfig(output_dir="out", learning_rate=3e-4)
    SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, peft_config=LoraConfig(r=16)).train()
"""
MODAL = f"""\
import modal
image = modal.Image.debian_slim().pip_install("torch", "trl==0.19.1", ["peft==0.14.0"]).apt_install("git")
app = modal.App("x", image=image)

@app.function(gpu="T4:2", timeout=3600)
def train():
{TRAIN}
@app.local_entrypoint()
def main():
    train.remote()
"""
ASKED = ("run.gpu", "job.gpus_per_node", "run.gpu_count")


@pytest.fixture
def runs(tmp_path):
    def build(text):
        (tmp_path / "train.py").write_text(text)
        file = str(tmp_path / "train.py")
        return starts(read_file(file, file), Options(), Project(str(tmp_path)))

    return build


def told(run, *fields):
    return [run.config.get(field).value for field in fields]


def test_the_gpu_and_the_image_of_a_function(runs):
    (run,) = runs(MODAL)
    assert told(run, *ASKED, "optim.lr") == ["T4", 2, 2, 3e-4]
    gpu = run.config.get("run.gpu")
    assert (gpu.key, gpu.span.line, gpu.span.column) == ("gpu", 5, 19)
    assert run.config.versions.satisfy("trl==0.19.1")
    assert run.config.versions.satisfy("peft==0.14.0")


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ('"A100-80GB"', ["A100-80GB", 1, 1]),
        ('"H100!:8"', ["H100", 8, 8]),
        ('"H100!"', ["H100", 1, 1]),
        ('"any"', [None, None, None]),
        ('["H100", "A100"]', [None, None, None]),
        ("chosen()", [None, None, None]),
        ("None", [None, None, None]),
    ],
)
def test_spellings_of_gpus(runs, given, asked):
    (run,) = runs(MODAL.replace('"T4:2"', given))
    assert told(run, *ASKED) == asked


def test_of_functions_on_different_gpus_nobody_sees_which_one_trains(runs):
    more = MODAL + '\n@app.function(gpu="{}")\ndef serve():\n    pass\n'
    (run,) = runs(more.format("L4"))
    assert told(run, *ASKED) == [None, None, None]
    (run,) = runs(more.format("T4:2"))
    assert told(run, *ASKED) == ["T4", 2, 2]


def test_images_that_differ_fix_nothing(runs):
    (run,) = runs(MODAL + 'other = modal.Image.debian_slim().pip_install("trl==0.20.0", "vllm")\n')
    assert not run.config.versions.satisfy("trl==0.19.1")
    assert run.config.versions.satisfy("peft==0.14.0")


def test_a_launch_in_a_function_meets_its_gpu(runs):
    words = ["trl", "sft", "--use_peft", "--learning_rate", "5e-4"]
    line = f"    import subprocess\n    subprocess.run({words}, check=True)\n"
    (run,) = runs(MODAL.replace(TRAIN, line))
    assert told(run, *ASKED, "optim.lr") == ["T4", 2, 2, 5e-4]


def test_other_programs_have_no_modal(runs):
    (run,) = runs(MODAL.replace("modal.App", "mine.App").replace("import modal", "import modal, mine"))
    assert told(run, *ASKED) == [None, None, None]


def test_a_function_that_another_one_calls_is_one_run(runs):
    plain = MODAL.replace("@app.local_entrypoint()\n", "").replace("train.remote()", "train()")
    assert len(runs(plain)) == 1
    other = (
        plain.replace("def train():", "def train(rank=16):")
        .replace("r=16", "r=rank")
        .replace("    train()", "    train(8)")
    )
    assert told(runs(other)[-1], "adapter.rank") == [8]


SCRIPT = """\
# /// script
# requires-python = ">=3.10"
# dependencies = [
#     "trl[peft]==0.19.1",  # the last one
#     "transformers >= 4.50",
#     'accelerate',
# ]
# ///
"""


def test_what_a_script_says_it_is_run_with(runs):
    assert declared(SCRIPT) == {"trl": "0.19.1", "transformers": "", "accelerate": ""}
    (run,) = runs(SCRIPT + "if True:\n" + TRAIN)
    assert run.config.versions.satisfy("trl==0.19.1")
    (run,) = runs(SCRIPT.replace("\n", "\r\n") + "if True:\n" + TRAIN)
    assert run.config.versions.satisfy("trl==0.19.1")
    (run,) = runs(SCRIPT.replace("# ///", "# //") + "if True:\n" + TRAIN)
    assert not run.config.versions.satisfy("trl==0.19.1")


@pytest.mark.parametrize(
    "text",
    [
        "# /// script\n" + "# x\n" * 20_000,
        "# /// script\n# dependencies = [" + "[" * 50_000 + "\n# ///\n",
        "# /// script\n" * 8_000,
        "# /// script\n# dependencies = [" + "'a" * 30_000 + "]\n# ///\n",
    ],
)
def test_near_misses_declare_nothing(text):
    assert declared(text) == {}
