"""Jobs of SageMaker: the script that runs there, with its hyperparameters as flags, on the machine of the job."""

from __future__ import annotations

import pytest

import loralint
from loralint.engine.settings import Settings
from loralint.frameworks.instances import instance
from loralint.model import Unknown
from loralint.render import FORMATS, render
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

TRAIN = """\
import argparse
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
parser = argparse.ArgumentParser()
parser.add_argument("--model_id", default="gpt2")
parser.add_argument("--lr", type=float, default=1e-4)
parser.add_argument("--rank", type=int, default=8)
parser.add_argument("--hf_token")
parser.add_argument("--merge_weights", type=bool)
args, _ = parser.parse_known_args()
model = get_peft_model(AutoModelForCausalLM.from_pretrained(args.model_id), LoraConfig(r=args.rank))
Trainer(model=model, args=TrainingArguments(output_dir="out", learning_rate=args.lr)).train()
"""
HANDED = """\
from sagemaker.huggingface import HuggingFace
LR = 3e-4
hyperparameters = {"model_id": "Qwen/Qwen2.5-7B", "lr": LR, "merge_weights": True}
hyperparameters["rank"] = 32
estimator = HuggingFace(
    entry_point="train.py",
    source_dir="scripts",
    instance_type="ml.g5.12xlarge",
    instance_count=2,
    hyperparameters=hyperparameters,
    transformers_version="4.46.1",
    environment={"CUDA_VISIBLE_DEVICES": "0,1"},
)
estimator.fit({"training": "s3://bucket/rows"})
"""
MODERN = """\
from sagemaker.modules.train import ModelTrainer
from sagemaker.modules.configs import Compute, SourceCode
from sagemaker.modules.distributed import Torchrun
trainer = ModelTrainer(
    source_code=SourceCode(source_dir="./scripts", entry_script="train.py"),
    compute=Compute(instance_type="ml.p4d.24xlarge", instance_count=2),
    distributed=Torchrun(),
    hyperparameters={"model_id": "Qwen/Qwen2.5-7B", "lr": 3e-4, "rank": 32},
)
trainer.train()
"""
FIELDS = ("model.base", "optim.lr", "adapter.rank")
QWEN = ["Qwen/Qwen2.5-7B", 3e-4, 32]


@pytest.fixture
def runs(tmp_path):
    """runs(text, files) -> the runs of launch.py with that text beside these files and scripts/train.py."""

    def build(text, files=None):
        for name, content in {"scripts/train.py": TRAIN, "launch.py": text, **(files or {})}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        build.project = Project(str(tmp_path))
        return starts(read_file(str(tmp_path / "launch.py"), str(tmp_path / "launch.py")), Options(), build.project)

    return build


def told(run, *fields):
    return [run.config.get(field).value for field in fields]


def test_hyperparameters_are_flags_of_the_script(runs, tmp_path):
    (run,) = runs(HANDED)
    assert told(run, *FIELDS) == QWEN
    rate = run.config.get("optim.lr")
    assert (rate.key, rate.span.file, rate.span.line) == ("lr", str(tmp_path / "launch.py"), 2)
    assert told(run, "run.gpu", "job.gpus_per_node", "job.nodes", "run.gpu_count") == ["A10G", 4, 2, 8]
    assert told(run, "dist.visible_devices") == [2]
    assert runs.project.is_claimed(str(tmp_path / "scripts/train.py"))


def test_the_newer_classes(runs):
    (run,) = runs(MODERN)
    assert told(run, *FIELDS) == QWEN
    assert told(run, "run.gpu", "dist.launcher_processes_per_node", "dist.launcher_nodes") == ["A100-40GB", 8, 2]


def test_torchrun_of_the_older_ones(runs):
    spread = 'distribution={"torch_distributed": {"enabled": True}}, '
    (run,) = runs(HANDED.replace("instance_count=2", f"{spread}instance_count=2"))
    assert told(run, "dist.launcher_processes_per_node", "dist.launcher_nodes") == [4, 2]
    (run,) = runs(HANDED.replace("instance_count=2", f"{spread}instance_count=several()"))
    assert isinstance(told(run, "dist.launcher_nodes")[0], Unknown)
    (run,) = runs(HANDED)
    assert told(run, "dist.launcher") == [None]


def test_a_command(runs):
    typed = 'command="accelerate launch --num_processes 4 train.py --lr 7e-4"'
    (run,) = runs(MODERN.replace('entry_script="train.py"', typed))
    assert told(run, "optim.lr", "dist.launcher_processes") == [7e-4, 4]


def test_what_is_not_seen_is_unknown(runs):
    (run,) = runs(HANDED.replace("hyperparameters=hyperparameters", "hyperparameters=load()"))
    assert run.config.get("optim.lr").origin == "inherited"  # the default, which may be told otherwise
    (run,) = runs(HANDED.replace("LR = 3e-4", "LR = rate()"))
    assert isinstance(told(run, "optim.lr")[0], Unknown)
    assert told(run, "adapter.rank") == [32]


def test_the_releases_of_the_image_and_those_that_the_folder_installs(runs):
    (run,) = runs(HANDED)
    assert run.config.versions.satisfy("transformers==4.46.1")
    (run,) = runs(HANDED, {"scripts/requirements.txt": "transformers==4.50.0\npeft==0.14.0\n"})
    assert run.config.versions.satisfy("transformers==4.50.0")
    assert run.config.versions.satisfy("peft==0.14.0")
    (run,) = runs(HANDED, {"scripts/requirements.txt": "transformers>=4.40\n"})
    assert not run.config.versions.satisfy("transformers==4.46.1")


@pytest.mark.parametrize(
    "text",
    [
        HANDED.replace(
            "sagemaker.huggingface import HuggingFace", "sagemaker.estimator import Estimator as HuggingFace"
        ),
        HANDED.replace('"train.py"', '"train.sh"'),
        HANDED.replace('"train.py"', "chosen()"),
        HANDED.replace("from sagemaker.huggingface", "from mine"),
    ],
)
def test_what_is_started_otherwise_is_no_run_here(runs, text):
    assert not runs(text)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ml.g5.xlarge", ("A10G", 1)),
        ("ml.g5.24xlarge", ("A10G", 4)),
        ("g6e.48xlarge", ("L40S", 8)),
        ("ml.g4dn.12xlarge", ("T4", 4)),
        ("ml.p3.16xlarge", ("V100-16GB", 8)),
        ("ml.p5.48xlarge", ("H100-80GB", 8)),
        ("ml.p5.4xlarge", ("H100-80GB", 1)),
        ("ml.m5.large", ("", 0)),
        ("local_gpu", ("", 0)),
        ("ml.trn1.32xlarge", ("", 0)),
    ],
)
def test_instances(name, found):
    assert instance(name) == found


def test_no_format_shows_a_secret(tmp_path):
    token = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/train.py").write_text(TRAIN)
    text = HANDED.replace('"lr": LR', f'"lr": 2.0, "hf_token": "{token}", "api_key": "notoneofashape17"')
    (tmp_path / "launch.py").write_text(text.replace('"0,1"', f'"0,1", "HF_TOKEN": "{token}"'))
    report = loralint.check(tmp_path, settings=Settings(preview=True), show_settings=True)
    assert {one.rule for run in report.runs for one in run.findings} >= {"LL120", "LL405"}
    for name in FORMATS:
        shown = render(name, report, color=False)
        assert token not in shown
        assert "notoneofashape17" not in shown
