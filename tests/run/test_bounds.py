"""Which release a run is judged by where a repository only bounds it, or pins what another release goes with."""

from __future__ import annotations

import pytest

import loralint
from loralint.run.versions import versions_of

SCRIPT = """from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = get_peft_model(AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B"), LoraConfig(r=8, task_type="CAUSAL_LM"))
args = TrainingArguments(output_dir="out", learning_rate=1e-4, evaluation_strategy="epoch", bf16=True)
Trainer(model=model, args=args, train_dataset=rows, eval_dataset=held).train()
"""
HANDBOOK = "model_name_or_path: org/m\ndataset_mixer:\n  org/rows: 1.0\nuse_peft: true\nlearning_rate: 2.0e-4\n"


def told(tmp_path, name, text, pins, file="requirements.txt"):
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / name).write_text(text)
    (tmp_path / file).write_text(pins)
    report = loralint.check(str(tmp_path))
    (run,) = report.runs
    return [(one.rule, one.tier) for one in run.findings if one.rule in ("LL103", "LL104")]


@pytest.mark.parametrize(
    ("pins", "old"),
    [
        ("transformers>=4.32.0,<4.38.0\n", True),
        ("transformers>=4.26.0,<=4.29.2\n", True),
        ("transformers~=4.40.1\n", True),
        ("transformers==4.40.*\n", True),
        ("git+https://github.com/huggingface/transformers.git@v4.36.0\n", True),
        ("transformers<4.52\n", False),
        ("transformers>=4.32.0\n", False),
        ("torch<2.9\n", False),
    ],
)
def test_a_bound_keeps_newer_releases_away(tmp_path, pins, old):
    assert told(tmp_path, "train.py", SCRIPT, pins) == ([] if old else [("LL103", "A")])


def test_a_folder_that_pins_ends_the_search_and_one_that_bounds_does_not(tmp_path):
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "requirements.txt").write_text("peft==0.17.1\ntorch<2.9\n")
    (tmp_path / "train" / "train.py").write_text(SCRIPT)
    (tmp_path / "requirements.txt").write_text("transformers<4.38\n")
    (run,) = loralint.check(str(tmp_path)).runs
    assert "LL103" in {one.rule for one in run.findings}  # the pins of the folder are all that count
    for other in ("torch<2.9\n", "deepspeed==0.16.2\npeft>=0.10.0\n"):  # what trains is left to the folder above
        (tmp_path / "train" / "requirements.txt").write_text(other)
        (run,) = loralint.check(str(tmp_path)).runs
        assert "LL103" not in {one.rule for one in run.findings}


@pytest.mark.parametrize(
    ("pins", "told_of"),
    [
        ("_deps = [\n    'transformers==4.37.0',\n    'trl==0.7.4',\n]\n", []),
        ("_deps = [\n    'transformers==4.57.1',\n    'trl==0.24.0',\n]\n", [("LL103", "A")]),
    ],
)
def test_a_framework_is_no_newer_than_what_is_pinned_beside_it(tmp_path, pins, told_of):
    assert told(tmp_path, "sft.yaml", HANDBOOK, pins, "setup.py") == told_of


def test_versions_within_bounds():
    bounded = versions_of("trl", {"transformers": "<5", "peft": "<0.18.0", "trl": "<0.20"})
    assert (bounded.of("transformers"), bounded.of("peft"), bounded.of("trl")) == ("", "", "0.19")
    assert bounded.pinned == {}
    assert versions_of("transformers", {"transformers": "<5"}).of("transformers") == "4.57.6"
    assert versions_of("llamafactory", {"transformers": "4.49.0"}).of("llamafactory") == "0.9.3"
    assert versions_of("llamafactory", {"transformers": "4.30.0"}).of("llamafactory") == ""
    assert versions_of("transformers", {"torch": "2.1.0", "accelerate": "0.23.0"}).of("transformers") == "5.24.0"
    assert versions_of("trl", {"transformers": "4.40.2"}).of("trl") == "0.12.2"


@pytest.mark.parametrize(
    ("project", "silent"),
    [
        ("setup(\n    name='transformers',\n    version='4.4.0.dev0',\n)\n", True),
        ("setup(\n    name='transformers_extras',\n)\n", False),
    ],
)
def test_a_checkout_of_a_library_is_of_a_release_that_nobody_knows(tmp_path, project, silent):
    (tmp_path / "setup.py").write_text(project)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "requirements.txt").write_text("datasets==2.14\n")
    script = SCRIPT.replace("eval_dataset=held", "eval_dataset=held, tokenizer=words, rankallocator=ranks")
    (tmp_path / "examples" / "train.py").write_text(script)
    (run,) = loralint.check(str(tmp_path)).runs
    found = {(one.rule, one.key) for one in run.findings if one.rule in ("LL102", "LL103")}
    told = {
        ("LL103", "TrainingArguments.evaluation_strategy"),
        ("LL103", "Trainer.tokenizer"),
        ("LL102", "Trainer.rankallocator"),
    }
    assert found == (set() if silent else told)


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("requirements-dev.txt", False),
        ("dev-requirements.txt", False),
        ("requirements_docs.txt", False),
        ("requirements.txt", True),
        ("requirements-device.txt", True),
        ("requirements-gpu.txt", True),
    ],
)
def test_what_developers_install_says_nothing_of_the_training(tmp_path, file, counts):
    assert told(tmp_path, "train.py", SCRIPT, "transformers==4.34.0\n", file) == ([] if counts else [("LL103", "A")])


FACTORY = "model_name_or_path: m\nstage: sft\ndo_train: true\nfinetuning_type: lora\ndataset: d\ntemplate: {}\n"
ENV = 'VERSION = "0.9.2.dev0"\n'


@pytest.mark.parametrize(
    ("template", "registers", "told_of"),
    [("qwen25", "", True), ("qwen25", "register_template(name='qwen25', format_user=f)\n", False), ("qwen", "", False)],
)
def test_a_copy_of_llamafactory_has_templates_of_its_own(tmp_path, template, registers, told_of):
    source = tmp_path / "src" / "llamafactory"
    (source / "extras").mkdir(parents=True)
    (source / "data").mkdir()
    (source / "cli.py").write_text("def main(): ...\n")
    (source / "extras" / "env.py").write_text(ENV)
    (source / "data" / "template.py").write_text(f"register_template(name='qwen', format_user=f)\n{registers}")
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "sft.yaml").write_text(FACTORY.format(template))
    (run,) = loralint.check(str(tmp_path)).runs
    found = [one.message for one in run.findings if one.rule == "LL108"]
    assert ["judged by llamafactory 0.9.2," in message for message in found] == [True] * told_of


@pytest.mark.parametrize(("release", "silent"), [("0.6.1.post1", True), ("0.11.2", False)])
def test_of_a_copy_that_is_older_than_all_that_is_known_no_key_is_told(tmp_path, release, silent):
    (tmp_path / "openrlhf" / "cli").mkdir(parents=True)
    (tmp_path / "version.txt").write_text(f"{release}\n")
    line = "python -m openrlhf.cli.train_sft --pretrain m --dataset d --colocate_actor_ref --learning_rate 1e-5\n"
    (tmp_path / "train.sh").write_text(line)
    found = {one.rule for run in loralint.check(str(tmp_path)).runs for one in run.findings}
    assert found.isdisjoint({"LL101", "LL102", "LL103"}) is silent
