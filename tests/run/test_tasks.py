"""Files that hand commands to a cloud or to a runner: what they launch, with what, on which cards."""

from __future__ import annotations

import re

import pytest

import loralint
from loralint.engine.settings import Settings
from loralint.model import Unknown
from loralint.render import FORMATS, render
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

TRL = "trl sft --model_name_or_path Qwen/Qwen2.5-7B --use_peft --lora_r 16 --learning_rate 3e-4 --output_dir out"
SKY = f"resources:\n  accelerators: A100-80GB:8\nnum_nodes: 2\nrun: |\n  {TRL}\n"
TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
# One of each kind that launches the same training.
SAME = {
    "SkyPilot": SKY,
    "dstack": f"type: task\nname: x\ncommands:\n  - cd .\n  - {TRL}\nresources:\n  gpu: A100:80GB:8\n",
    "dstack, over several lines": "type: task\ncommands:\n  - |\n    " + TRL.replace(" --use", " \\\n    --use"),
    "Azure ML": f"$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\ncommand: >-\n  {TRL}\n"
    "environment: azureml:acpt@latest\ncompute: azureml:gpus\n",
    "Azure ML, several": "type: pipeline\njobs:\n  train:\n    type: command\n    command: >-\n      "
    + TRL.replace("3e-4", "${{inputs.lr}}").replace("--lora_r 16", "--lora_r ${{ parent.inputs.rank }}")
    + "\n    environment: azureml:acpt@latest\n    inputs:\n      lr: 3e-4\ninputs:\n  rank: 16\n",
    "Docker Compose": f"services:\n  db:\n    image: postgres\n  train:\n    build: .\n    command: {TRL}\n",
    "Docker Compose, word by word": f"services:\n  a:\n    entrypoint: [trl, sft]\n    command: {TRL.split()[2:]}\n",
    "Docker Compose, by a shell": f'services:\n  train:\n    command: bash -c "pip install trl && {TRL}"\n',
    "DVC": f"stages:\n  before:\n    cmd: python prepare.py\n  train:\n    cmd:\n      - mkdir out\n      - {TRL}\n",
    "Beaker": f"version: v2\ntasks:\n  - image: x\n    command: [/bin/sh, -c]\n    arguments: ['{TRL}']\n",
    "Vertex AI": f"workerPoolSpecs:\n  - containerSpec:\n      command: [trl]\n      args: {TRL.split()[1:]}\n",
    "Vertex AI, in small": f"worker_pool_specs:\n  - container_spec:\n      command: {TRL.split()}\n",
    "Anyscale": f"name: x\nimage_uri: y\nentrypoint: {TRL}\n",
}  # fmt: skip
FIELDS = {"model.base": "Qwen/Qwen2.5-7B", "adapter.rank": 16, "optim.lr": 3e-4, "checkpoint.output_dir": "out"}


@pytest.fixture
def runs(tmp_path):
    """runs(text, files) -> the runs of job.yaml with that text beside these files."""

    def build(text, files=None, name="job.yaml"):
        for file, content in {**(files or {}), name: text}.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(content)
        build.project = Project(str(tmp_path))
        file = str(tmp_path / name)
        return starts(read_file(file, file), Options(), build.project)

    return build


def told(run, *fields):
    return [run.config.get(field).value for field in fields]


@pytest.mark.parametrize("kind", SAME)
def test_the_same_training_by_each_kind(runs, kind):
    (run,) = runs(SAME[kind])
    assert dict(zip(FIELDS, told(run, *FIELDS), strict=True)) == FIELDS
    assert run.config.reader.name == "trl"
    rate = run.config.get("optim.lr").span
    assert SAME[kind][rate.start : rate.end].strip("'") in ("3e-4", "lr: 3e-4")


ASKED = ("run.gpu", "job.gpus_per_node", "job.nodes", "run.gpu_count")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (SKY, ("A100-80GB", 8, 2, 16)),
        (SKY.replace("A100-80GB:8\nnum_nodes: 2", "{L4: 2}"), ("L4", 2, None, 2)),
        (SKY.replace("A100-80GB:8\nnum_nodes: 2", "T4"), ("T4", 1, None, 1)),
        (SKY.replace("A100-80GB:8", "[L4:4, T4:4]"), ("L4, T4", 4, 2, 8)),
        (SKY.replace("A100-80GB:8", "{L4: 1, T4: 2}"), ("L4, T4", None, 2, None)),
        (SKY.replace("A100-80GB:8", "tpu-v5e-8"), (None, 1, 2, 2)),
        (SKY.replace("  accelerators", "  any_of: [{accelerators: T4}]\n  accelerators"), (None, None, 2, None)),
        (SAME["dstack"], ("A100-80GB", 8, None, 8)),
        (SAME["dstack"].replace("A100:80GB:8", "24GB..80GB:2"), (None, 2, None, 2)),
        (SAME["dstack"].replace("A100:80GB:8", "H100:1..8"), ("H100", None, None, None)),
        (SAME["dstack"].replace("A100:80GB:8", "nvidia:T4,L4:2"), ("T4, L4", 2, None, 2)),
        (SAME["dstack"].replace("A100:80GB:8", "4"), (None, 4, None, 4)),
        (SAME["dstack"].replace("A100:80GB:8", "{name: [L4], count: 2}\nnodes: 3"), ("L4", 2, 3, 6)),
        (SAME["Azure ML"] + "resources:\n  instance_count: 2\n", (None, None, 2, None)),
        (SAME["Docker Compose"] + "    deploy: {resources: {reservations: {devices: [{device_ids: ['0', '3']}]}}}\n",
         (None, 2, None, 2)),
        (SAME["Docker Compose"] + "    deploy: {resources: {reservations: {devices: [{count: all}]}}}\n",
         (None, None, None, None)),
        (SAME["Beaker"] + "    resources: {gpuCount: 4}\n    replicas: 2\n", (None, 4, 2, 8)),
        (SAME["Vertex AI"] + "    machineSpec: {acceleratorType: NVIDIA_L4, acceleratorCount: 2}\n",
         ("NVIDIA-L4", 2, None, 2)),
        (SAME["Anyscale"], (None, None, None, None)),
    ],
)  # fmt: skip
def test_cards_and_machines(runs, text, asked):
    (run,) = runs(text)
    gpu, *counts = told(run, *ASKED)
    assert [gpu.reason.removeprefix("the cloud may choose among ") if isinstance(gpu, Unknown) else gpu, *counts] == [
        *asked
    ]


def test_processes_that_azure_starts(runs):
    more = "distribution:\n  type: {}\n  process_count_per_instance: 4\nresources:\n  instance_count: 2\n"
    (run,) = runs(SAME["Azure ML"] + more.format("pytorch"))
    assert told(run, "job.processes_per_node", "job.nodes") == [4, 2]
    (run,) = runs(SAME["Azure ML"] + more.format("mpi"))
    assert told(run, "job.processes_per_node") == [None]


def test_variables_that_the_clouds_set(runs):
    torchrun = "torchrun --nproc_per_node={} --nnodes={} train.py"
    line = torchrun.format("$SKYPILOT_NUM_GPUS_PER_NODE", "$SKYPILOT_NUM_NODES")
    (run,) = runs(f"resources:\n  accelerators: L4:4\nrun: {line}\n")
    assert told(run, "dist.launcher_processes_per_node", "dist.launcher_nodes") == [4, 1]
    line = torchrun.format("$DSTACK_GPUS_PER_NODE", "$DSTACK_NODES_NUM")
    (run,) = runs(f"type: task\nnodes: 3\ncommands:\n  - {line}\nresources:\n  gpu: L4:2\n")
    assert told(run, "dist.launcher_processes_per_node", "dist.launcher_nodes") == [2, 3]
    (run,) = runs(f"type: task\ncommands:\n  - {line}\nresources:\n  gpu: L4:1..2\n")
    assert isinstance(told(run, "dist.launcher_processes_per_node")[0], Unknown)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("envs:\n  RATE: 5e-4\nrun: {}\n", 5e-4),
        ("secrets: {{OTHER: x}}\nenvs:\n  RATE:\nrun: {}\n", "`RATE` is given when the job is handed in"),
        ("type: task\nenv:\n  - RATE=5e-4\n  - OTHER=a=b\ncommands: ['{}']\n", 5e-4),
        ("type: task\nenv:\n  - RATE\ncommands: ['{}']\n", "`RATE` is given when the job is handed in"),
        ("type: task\nenv: {{RATE: 5e-4}}\ncommands: ['{}']\n", 5e-4),
        ("type: task\ncommands:\n  - export RATE=5e-4\n  - {}\n", 5e-4),
        ("services:\n  a:\n    environment: ['RATE=5e-4']\n    command: sh -c '{}'\n",
         "`$RATE` is filled in by Docker Compose when the run starts"),
        ("services:\n  a:\n    environment: ['RATE=5e-4']\n    command: sh -c '{} --seed $$RATE'\n", 5e-4),
        ("stages:\n  a:\n    cmd: {}\n", "`$RATE` comes from the environment"),
        ("version: v2\ntasks:\n- envVars: [{{name: RATE, value: 5e-4}}]\n  command: [sh, -c]\n  arguments: ['{}']\n",
         5e-4),
        ("version: v2\ntasks:\n- envVars: [{{name: RATE, secret: x}}]\n  command: [sh, -c]\n  arguments: ['{}']\n",
         "`RATE` is given when the job is handed in"),
    ],
)  # fmt: skip
def test_variables(runs, text, rate):
    line = TRL.replace("3e-4", "$RATE")
    (run,) = runs(text.format(line.replace("$RATE", "$$RATE") if "$$RATE" in text else line))
    (value,) = told(run, "optim.lr")
    assert (value.reason if isinstance(value, Unknown) else value) == rate
    assert told(run, "adapter.rank") == [16]


@pytest.mark.parametrize("name", ["${{inputs.missing}}", "${{ search_space.lr }}", "${{secrets.lr}}"])
def test_what_is_filled_in_later_is_unknown(runs, name):
    (run,) = runs(SAME["Azure ML"].replace("3e-4", name))
    assert told(run, "optim.lr")[0].reason == f"`{name}` is filled in by Azure ML when the run starts"
    (run,) = runs(SAME["DVC"].replace("3e-4", "${train.lr}"))
    assert told(run, "optim.lr")[0].reason == "`${train.lr}` is filled in by DVC when the run starts"


@pytest.mark.parametrize("name", ["${RATE:-5e-4}", "${RATE-5e-4}"])
def test_what_compose_takes_where_nothing_is_set(runs, name):
    (run,) = runs(SAME["Docker Compose"].replace("3e-4", name))
    assert told(run, "optim.lr") == [5e-4]
    (run,) = runs(SAME["Docker Compose"].replace("3e-4", "${RATE:?is wanted}"))
    assert isinstance(told(run, "optim.lr")[0], Unknown)


AXOLOTL = "base_model: Qwen/Qwen2.5-7B\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nlearning_rate: 7e-4\n"


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("workdir: conf\nrun: axolotl train q.yml\n", "conf/q.yml"),
        ("workdir: .\nrun: |\n  cd conf\n  axolotl train q.yml\n", "conf/q.yml"),
        ("file_mounts:\n  /c: ./conf\n  /c/x: ./other\nrun: axolotl train /c/q.yml\n", "conf/q.yml"),
        ("file_mounts:\n  /c/q.yml: conf/q.yml\nrun: axolotl train /c/q.yml\n", "conf/q.yml"),
        ("services:\n  a:\n    volumes: ['./conf:/c:ro']\n    command: axolotl train /c/q.yml\n", "conf/q.yml"),
        ("services:\n  a:\n    volumes: [{source: ./conf, target: /c}]\n    command: axolotl train /c/q.yml\n",
         "conf/q.yml"),
        ("code: conf\nenvironment: x\ncommand: axolotl train q.yml\n", "conf/q.yml"),
        ("stages:\n  a:\n    wdir: conf\n    cmd: axolotl train q.yml\n", "conf/q.yml"),
    ],
)  # fmt: skip
def test_configs_that_commands_name(runs, tmp_path, text, config):
    (run,) = runs(text, {config: AXOLOTL})
    assert told(run, "optim.lr", "adapter.rank") == [7e-4, 8]
    assert run.config.reader.name == "axolotl"
    assert runs.project.is_claimed(str(tmp_path / config))


def test_a_config_that_lies_elsewhere_is_not_taken_for_another(runs):
    (run,) = runs("file_mounts:\n  /c: s3://bucket/conf\nrun: axolotl train /c/q.yml\n", {"conf/q.yml": AXOLOTL})
    assert any("q.yml" in note.message for note in run.notes)
    assert isinstance(told(run, "optim.lr")[0], Unknown)


def test_releases_that_a_setup_installs(runs):
    (run,) = runs(SKY.replace("run:", "setup: pip install trl==0.19.1\nrun:"))
    assert run.config.versions.satisfy("trl==0.19.1")
    assert not run.config.versions.satisfy("trl>0.19.1")


def test_one_file_of_several_tasks(runs):
    found = runs("name: several\n---\n" + SKY + "---\n" + SKY.replace("3e-4", "4e-4"))
    assert [told(run, "optim.lr") for run in found] == [[3e-4], [4e-4]]


@pytest.mark.parametrize(
    "text",
    [
        "services:\n  web:\n    image: nginx\n    command: nginx -g 'daemon off;'\n",
        "run: trl sft --use_peft --output_dir x\nresources: {}\nother: 1\n",  # SkyPilot has no such key
        "type: service\ncommands:\n  - vllm serve Qwen/Qwen2.5-7B --enable-lora\n",
        "stages: [build, test]\ntrain:\n  script:\n    - trl sft --use_peft\n",
        "jobs:\n  train:\n    steps:\n      - run: trl sft --use_peft --output_dir x\n",
        "type: task\ncommands:\n",
        "services:\n",
        "stages:\n  train:\n    cmd: python train.py {% if x %} --lora_r 1 {% endif %}\n{% if y %}\n",
        "version: v2\ntasks: [1, [2], {command: {a: b}}]\n",
    ],
)
def test_files_that_launch_no_training(runs, text):
    assert not runs(text)


SWEEP = """\
program: train.py
method: bayes
metric: {name: eval/loss, goal: minimize}
parameters:
  lr: {value: 5e-4}
  rank: {values: [8, 16]}
  epochs: {min: 1, max: 3}
  bf16: {value: true}
  tf32: {value: false}
"""
SWEPT = """\
import argparse
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-4)
parser.add_argument("--rank", type=int, default=4)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--seed", type=int)
parser.add_argument("--bf16", BOOL)
parser.add_argument("--tf32", BOOL)
args = parser.parse_args()
model = get_peft_model(AutoModelForCausalLM.from_pretrained("gpt2"), LoraConfig(r=args.rank))
given = TrainingArguments("out", learning_rate=args.lr, num_train_epochs=args.epochs, bf16=args.bf16, tf32=args.tf32)
Trainer(model=model, args=given).train()
"""


def test_a_sweep(runs, tmp_path):
    (run,) = runs(SWEEP, {"train.py": SWEPT.replace("BOOL", "default=False")})
    rate = run.config.get("optim.lr")
    assert (rate.value, rate.span.file, rate.span.line) == (5e-4, str(tmp_path / "job.yaml"), 5)
    assert told(run, "adapter.rank")[0].reason == "`rank` is what the sweep tries"
    assert told(run, "train.epochs")[0].reason == "`epochs` is what the sweep tries"
    assert runs.project.is_claimed(str(tmp_path / "train.py"))


@pytest.mark.parametrize(
    ("command", "processes"),
    [
        ("[python, '${program}', '${args_no_boolean_flags}']", None),
        ("[accelerate, launch, --num_processes, '4', '${program}', '${args_no_boolean_flags}']", 4),
        ("['${env}', '${interpreter}', '${program}', '${args_no_boolean_flags}', --seed, '1']", None),
    ],
)
def test_commands_of_sweeps(runs, command, processes):
    script = {"train.py": SWEPT.replace("BOOL", 'action="store_true"')}
    (run,) = runs(f"{SWEEP}command: {command}\n", script)
    assert told(run, "optim.lr", "precision.bf16", "precision.tf32") == [5e-4, True, False]
    assert told(run, "dist.launcher_processes") == [processes]
    assert not [one for one in run.observations if one.effect == "crash"]


def test_a_sweep_of_what_is_no_training(runs):
    assert not runs(SWEEP.replace("method: bayes", "other: 1"))
    assert not runs(SWEEP.replace("program: train.py", "program:"))


@pytest.mark.parametrize("kind", SAME)
def test_no_format_shows_a_secret(tmp_path, kind):
    text = SAME[kind].replace("3e-4", "2.0").replace("--use_peft", f"--use_peft --push_to_hub --hub_token {TOKEN}")
    more = {
        "SkyPilot": f"envs:\n  HF_TOKEN: {TOKEN}\nsecrets:\n  WANDB_API_KEY: notoneofashape17\n",
        "dstack": f"env:\n  - HF_TOKEN={TOKEN}\n  - WANDB_API_KEY=notoneofashape17\n",
        "Azure ML": f"environment_variables:\n  HF_TOKEN: {TOKEN}\n  WANDB_API_KEY: notoneofashape17\n",
        "Docker Compose": f"    environment:\n      - HF_TOKEN={TOKEN}\n      - WANDB_API_KEY=notoneofashape17\n",
        "Beaker": f"    envVars:\n      - {{name: HF_TOKEN, value: {TOKEN}}}\n"
        "      - name: WANDB_API_KEY\n        value: notoneofashape17\n",
    }.get(kind, "")
    file = tmp_path / "job.yaml"
    file.write_text(text + more)
    report = loralint.check(file, settings=Settings(preview=True), show_settings=True)
    assert {one.rule for run in report.runs for one in run.findings} >= {"LL120", "LL405"}
    for name in FORMATS:
        shown = render(name, report, color=False)
        assert TOKEN not in shown
        assert "notoneofashape17" not in shown


@pytest.mark.parametrize(("kind", "made"), [("SkyPilot", 1), ("Docker Compose", 0)])
def test_only_a_script_that_stands_line_by_line_is_mended(tmp_path, kind, made):
    file = tmp_path / "job.yaml"
    file.write_text(SAME[kind].replace("--output_dir", "--evaluation_strategy no --output_dir"))
    (run,) = loralint.check(file, settings=Settings(target=("transformers=4.57", "trl=0.21"))).runs
    (found,) = [one for one in run.findings if one.rule == "LL103"]
    edits = found.fix.edits if found.fix is not None else ()
    assert [edit.text.strip("-") for edit in edits] == ["eval_strategy"] * made


def test_one_command_by_many_names_is_not_read_again_and_again(runs):
    names = "".join(f"  s{number}:\n    command: *a\n" for number in range(60))
    text = f"services:\n  first:\n    command: &a {TRL} {'x' * 100_000}\n{names}"
    assert 1 <= len(runs(text)) <= 5


@pytest.mark.parametrize("hostile", ["${{" * 40_000, "$$" * 15_000, "=" * 100_000, "${" * 50_000, "A" * 100_000])
def test_near_misses_take_no_time_to_speak_of(runs, hostile):
    runs(f"environment: x\ncode: .\ncommand: {hostile!r}\n")
    runs(f"type: task\nenv: [{hostile!r}]\ncommands: [{hostile!r}]\nresources: {{gpu: {hostile!r}}}\n")
    runs(f"stages: {{a: {{cmd: {hostile!r}}}}}\n")
    assert re.fullmatch(r"\S+", hostile)
