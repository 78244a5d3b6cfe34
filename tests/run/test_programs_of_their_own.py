"""Files and launches of another program that share a trainer's names: what they leave out is not known."""

from __future__ import annotations

import pytest

import loralint
from loralint.frameworks.detect import detect, reader
from loralint.frameworks.strangers import program_of_its_own
from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_bytes, read_file

# as of llm2vec's train_configs: one JSON for several dataclasses, TRL's names among the author's own
OWN = """\
{"model_name_or_path": "some/model", "peft_model_name_or_path": "some/adapter", "bidirectional": true,
 "pooling_mode": "mean", "dataset_name": "E5", "max_seq_length": 512, "lora_r": 16, "learning_rate": 2e-4,
 "num_train_epochs": 3, "torch_dtype": "bfloat16", "stop_after_n_steps": 1000}
"""
HOMEMADE = "train:\n  lr: 1e-4\nlora:\n  r: 8\n  lora_alpha: 16\n"
TRL = "model_name_or_path: m\nuse_peft: true\nlearning_rate: 1e-4\n"
SUBSET = "[[datasets]]\nresolution = 512\n  [[datasets.subsets]]\n    image_dir = 'img'\n"
DISTIL = """\
accelerate launch src/kd_train_text_to_image.py --pretrained_model_name_or_path stabilityai/stable-diffusion-2-1 \\
  --train_data_dir ./data --resolution 768 --train_batch_size 32 --mixed_precision fp16 --learning_rate 5e-05 \\
  --lr_scheduler constant --max_train_steps 400000 --lambda_kd_feat 1.0 --output_dir out
"""
RERANKER = """\
deepspeed --include=localhost:0,1 src/train.py --model_name_or_path mistralai/Mistral-7B-v0.1 --data_path wiki.jsonl \\
  --encoder_name some/encoder --encoder_pooling mean --projector_type mlp --freeze_backbone --bf16 --output_dir out \\
  --num_train_epochs 1 --per_device_train_batch_size 1 --learning_rate 1e-3
"""
FACTORY = """\
deepspeed src/train.py --stage sft --do_train --model_name_or_path m --dataset d --template qwen --bf16 \\
  --finetuning_type lora --lora_target all --output_dir out --learning_rate 1e-4 --my_own 1
"""
REWARDED = """\
python -m mlx_lm_lora.train --model m --train --data d --train-mode grpo --train-type lora --num-layers 8 \\
  --batch-size 1 --iters 200 --learning-rate 1e-6 --group-size 4
"""


@pytest.fixture
def run(tmp_path):
    def build(name, text):
        file = tmp_path / name
        file.write_text(text)
        (found,) = starts(read_file(str(file), str(file)), Options(), Project(str(tmp_path)))
        return found

    return build


def observed(run):
    return [one.value.key for one in run.observations if one.kind in ("unknown", "renamed", "removed")]


def test_two_keys_that_resemble_none_make_it_a_program_of_its_own(run):
    found = run("simcse.json", OWN)
    assert (found.config.reader.name, found.config.reader.guessed) == ("trl", True)
    assert observed(found) == []
    assert isinstance(found.config.get("adapter.method").value, Unknown)  # no word of `use_peft`
    assert "`bidirectional` and `pooling_mode` are no keys of TRL" in found.config.get("adapter.method").value.reason


def test_one_is_a_slip(run):
    found = run("sft.yaml", TRL + "zebra: 7\n")
    assert (observed(found), found.config.reader.guessed) == (["zebra"], False)


def test_trl_itself_takes_none(run, tmp_path):
    (tmp_path / "sft.yaml").write_text(TRL + "zebra: 7\nheron: 8\n")
    assert observed(run("run.sh", "trl sft --config sft.yaml\n")) == ["zebra", "heron"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"{SUBSET}    path_pattern = '*'\n    zebra = 1\n", True),
        (f"{SUBSET}    zebra = 1\n", False),
        # settings of the trainer, in the file where they have no business
        (f"[general]\nlearning_rate = 1e-4\nmax_train_steps = 9\n{SUBSET}", False),
    ],
)  # fmt: skip
def test_forks_of_sd_scripts(text, own):
    document = read_bytes(text.encode(), "dataset.toml")
    found = detect(document)
    assert found is not None
    assert bool(program_of_its_own(document, reader(found.module))) == own


def test_what_a_script_of_nobody_known_leaves_out_has_no_default(run):
    found = run("kd.sh", DISTIL)
    assert (found.config.reader.name, found.config.reader.guessed) == ("sd-scripts", True)
    assert found.config.get("optim.lr").value == 5e-5
    assert all(isinstance(found.config.get(field).value, Unknown) for field in ("model.prediction", "adapter.rank"))


def test_another_projects_src_train_is_not_llamafactorys(run):
    found = run("s1.sh", RERANKER)
    assert (found.config.reader.name, observed(found)) == ("transformers", [])
    assert run("lf.sh", FACTORY).config.reader.name == "llamafactory"
    assert observed(run("lf.sh", FACTORY)) == ["my_own"]


def test_mlx_lm_lora_shares_names_with_mlx_lm(run):
    found = run("grpo.sh", REWARDED)
    assert (found.config.reader.name, found.config.reader.guessed, observed(found)) == ("mlx-lm", True, [])
    assert found.config.get("optim.lr").value == 1e-6
    assert isinstance(found.config.get("adapter.alpha").value, Unknown)


LAUNCH = """\
deepspeed --num_gpus 4 run_clm.py --model_name_or_path gpt2-large --per_device_train_batch_size 4 \\
  --num_train_epochs 3 --output_dir out {more}
"""
LOOP = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--num_train_epochs', type=int)\n"
OURS = "from transformers import HfArgumentParser, TrainingArguments\nHfArgumentParser(TrainingArguments)\n"


@pytest.mark.parametrize(
    ("script", "more", "framework"),
    [
        (None, "--deepspeed ds.json", "transformers"),  # as far as anybody sees
        (LOOP, "--deepspeed ds.json", "generic"),
        (None, "--deepspeed --deepspeed_config ds.json", "generic"),
        (LOOP + OURS, "--deepspeed ds.json", "transformers"),
    ],
)
def test_a_loop_with_names_of_the_library_has_not_its_defaults(tmp_path, script, more, framework):
    if script is not None:
        (tmp_path / "run_clm.py").write_text(script)
    (tmp_path / "ds.json").write_text('{"train_batch_size": 8, "optimizer": {"type": "Adam", "params": {"lr": 1e-3}}}')
    file = tmp_path / "train.sh"
    file.write_text(LAUNCH.format(more=more))
    (found,) = starts(read_file(str(file), str(file)), Options(), Project(str(tmp_path)))
    assert found.config.reader.name == framework
    value = found.config.get("optim.max_grad_norm").value
    assert isinstance(value, Unknown) if framework == "generic" else value == 1


@pytest.mark.parametrize(
    ("text", "framework", "known"),
    [
        (TRL + "lora_target_modules: all\nlora_relative_r: 4\ntrain_embeddings: false\n", "trl", False),
        (TRL + "lora_target_modules: all\n", "trl", True),
        (HOMEMADE + "  target_modules: all\n", "generic", False),
        (HOMEMADE + "  target_modules: all_linear\n", "generic", True),
    ],
)
def test_the_word_for_every_layer_is_a_programs_own(run, text, framework, known):
    found = run("a.yaml", text)
    assert found.config.reader.name == framework
    assert found.config.get("adapter.targets").known is known


@pytest.mark.parametrize(
    ("package", "framework"), [("llamafactory", "llamafactory"), ("llmtuner", "llamafactory"), ("glmtuner", "generic")]
)
def test_a_script_of_the_same_name_may_be_of_another_trainer(tmp_path, package, framework):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train_bash.py").write_text(f"from {package}.tuner import run_exp\n\nrun_exp()\n")
    file = tmp_path / "train.sh"
    file.write_text(
        "python src/train_bash.py --stage rm --do_train --dataset d --finetuning_type lora --output_dir out "
        "--resume_lora_training False --per_device_train_batch_size 4 --learning_rate 1e-5 --num_train_epochs 1\n"
    )
    (found,) = starts(read_file(str(file), str(file)), Options(), Project(str(tmp_path)))
    assert found.config.reader.name == framework


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("parser.add_argument('--use_deepspeed', action='store_true')\nargs, _ = parser.parse_known_args()\n", False),
        ("@dataclass\nclass Arguments:\n    use_deepspeed: bool = False\n", False),
        ("parser.add_argument('--rank', type=int)\nargs, _ = parser.parse_known_args()\n", True),
    ],
)
def test_a_launchers_option_that_the_script_has_itself_is_its_own(tmp_path, program, told):
    (tmp_path / "train.py").write_text(program)
    (tmp_path / "train.sh").write_text("accelerate launch --num_processes 8 train.py --rank 8 --use_deepspeed\n")
    found = [one.rule for run in loralint.check(str(tmp_path / "train.sh")).runs for one in run.findings]
    assert ("LL131" in found) is told


def test_what_a_program_that_nobody_knows_is_given_again_it_may_collect(tmp_path):
    line = "accelerate launch train.py --gin 'a = 1' --gin 'b = 2' --lora_r 8 --lora_alpha 16 --learning_rate 1e-4"
    (tmp_path / "train.sh").write_text(f"{line} --learning_rate 2e-4\n")
    found = [one for run in loralint.check(str(tmp_path)).runs for one in run.findings if one.rule == "LL106"]
    assert [one.key for one in found] == ["learning_rate"]
