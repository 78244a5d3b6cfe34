"""What Hydra makes of the words behind a program with `@hydra.main`."""

from __future__ import annotations

import pytest

from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

PROGRAM = """\
import hydra
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

@hydra.main(version_base=None, config_path="../conf", config_name="config")
def main(cfg):
    model = AutoModelForCausalLM.from_pretrained(cfg.model.name)
    model = get_peft_model(model, LoraConfig(r=cfg.lora.r, lora_alpha=16, target_modules=cfg.lora.targets))
    Trainer(model=model, args=TrainingArguments(output_dir="out", learning_rate=cfg.lr, bf16=cfg.bf16)).train()

if __name__ == "__main__":
    main()
"""
FILES = {
    "src/train.py": PROGRAM,
    "src/__init__.py": "",
    "conf/config.yaml": "defaults:\n  - model: qwen\n  - _self_\n"
    "lr: 1e-4\nbf16: true\nlora:\n  r: 8\n  targets: [q_proj]\n",
    "conf/big.yaml": "defaults:\n  - config\n  - override model: llama\nlora:\n  r: 256\n",
    "conf/model/qwen.yaml": "name: Qwen/Qwen2.5-7B\n",
    "conf/model/llama.yaml": "name: meta-llama/Llama-2-7b-hf\n",
    "conf/exp/long.yaml": "# @package _global_\ndefaults:\n  - override /model: llama\nlr: 5e-4\n",
    "more/model/big.yaml": "name: Qwen/Qwen2.5-72B\n",
    "more/config.yaml": "lr: 1.0\n",
    "more/mine.yaml": "defaults:\n  - config\n  - override model: big\nlr: 6e-4\n",
    "other/config.yaml": "lr: 9e-4\nbf16: false\nmodel:\n  name: gpt2\nlora:\n  r: 1\n  targets: [c_attn]\n",
}
FIELDS = ("model.base", "adapter.rank", "optim.lr", "precision.bf16", "adapter.targets")
QWEN, LLAMA = "Qwen/Qwen2.5-7B", "meta-llama/Llama-2-7b-hf"
UNSEEN = [None, None, None, None, None]
PROGRAMS = ["python src/train.py", "python -m src.train", "torchrun --nproc_per_node=2 -m src.train"]


@pytest.fixture
def launched(tmp_path):
    def build(line, program="python src/train.py"):
        for name, text in {"scripts/run.sh": f"cd ..\n{program} {line}\n", **FILES}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        script = str(tmp_path / "scripts/run.sh")
        (found,) = starts(read_file(script, script), Options(), Project(str(tmp_path)))
        return found.config

    return build


def told(config):
    values = [config.get(field).value for field in FIELDS]
    return [None if isinstance(one, Unknown) else one for one in values]


# What Hydra 1.3.8 composes of the same files and words.
@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("", [QWEN, 8, 1e-4, True, ["q_proj"]]),
        ("lora.r=32", [QWEN, 32, 1e-4, True, ["q_proj"]]),
        ("lr=3e-4 bf16=False", [QWEN, 8, 3e-4, False, ["q_proj"]]),
        ("++lora.r=1_0 +lora.dropout=0.1", [QWEN, 10, 1e-4, True, ["q_proj"]]),
        ("'lora.targets=[q_proj, v_proj]'", [QWEN, 8, 1e-4, True, ["q_proj", "v_proj"]]),
        ("model=llama", [LLAMA, 8, 1e-4, True, ["q_proj"]]),
        ("model.name=gpt2 model=llama", ["gpt2", 8, 1e-4, True, ["q_proj"]]),
        ("+exp=long lora.r=4", [LLAMA, 4, 5e-4, True, ["q_proj"]]),
        ("+exp=long model=qwen", [QWEN, 8, 5e-4, True, ["q_proj"]]),
        ("--config-name big", [LLAMA, 256, 1e-4, True, ["q_proj"]]),
        ("-cn=big.yaml lora.r=2", [LLAMA, 2, 1e-4, True, ["q_proj"]]),
        ("--config-dir more model=big", ["Qwen/Qwen2.5-72B", 8, 1e-4, True, ["q_proj"]]),
        ("-cd more --config-name=mine lora.r=4", ["Qwen/Qwen2.5-72B", 4, 6e-4, True, ["q_proj"]]),
        ("--config-dir=more/", [QWEN, 8, 1e-4, True, ["q_proj"]]),
        ("--config-path ../other", ["gpt2", 1, 9e-4, False, ["c_attn"]]),
        ("hydra.run.dir=out lr=$RATE", [QWEN, 8, None, True, ["q_proj"]]),
        ("--multirun lr=1e-4,2e-4 lora.r=16", [QWEN, 16, None, True, ["q_proj"]]),
        ('lora.r=64 "$@"', [QWEN, 64, 1e-4, True, ["q_proj"]]),
    ],
)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_launch_is_composed_as_hydra_does(launched, line, values, program):
    assert told(launched(line, program)) == values


@pytest.mark.parametrize(
    "line",
    [
        "+lr=4",
        "rate=4",
        "model=nope",
        "--config-dir more model=far",
        "model=llama model=qwen",
        "hydra.searchpath=[x] lr=1",
    ],
)
@pytest.mark.parametrize("program", PROGRAMS)
def test_where_hydra_stops_or_looks_elsewhere_nothing_is_known(launched, line, program):
    assert told(launched(line, program))[0] is None
    assert told(launched(line, program))[4] is None


def test_a_key_that_is_taken_away_is_not_there(launched):
    assert told(launched("~lora.targets")) == [QWEN, 8, 1e-4, True, None]


def test_what_a_word_says_stands_in_the_script(launched, tmp_path):
    rate = launched("lr=3e-4").get("optim.lr")
    assert (rate.span.file, rate.span.line, rate.span.column) == (str(tmp_path / "scripts/run.sh"), 2, 24)
    base = launched("model=llama").get("model.base")
    assert (base.span.file, base.span.line) == (str(tmp_path / "conf/model/llama.yaml"), 1)
