"""A function that Fire makes a program of: what it is told by another name, and by a launcher, changes nothing."""

from __future__ import annotations

import pytest

from loralint.api import check

SCRIPT = """
import fire
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def train(base_model: str = "Qwen/Qwen2.5-7B", num_epochs: int = 3, lora_r: int = 8, quiet: bool = False{more}):
    model = AutoModelForCausalLM.from_pretrained(base_model)
    model = get_peft_model(model, LoraConfig(r=lora_r, task_type="CAUSAL_LM"))
    args = TrainingArguments(output_dir="out", num_train_epochs=num_epochs, disable_tqdm=quiet)
    Trainer(model=model, args=args, train_dataset=rows).train()


if __name__ == "__main__":
    fire.Fire(train)
"""


def told(tmp_path, line, more=""):
    (tmp_path / "train.py").write_text(SCRIPT.format(more=more))
    (tmp_path / "run.sh").write_text(line + "\n")
    report = check(tmp_path)
    return [(one.rule, one.key) for run in report.runs for one in run.findings if "Fire" in one.message]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("python train.py --num_epoch 6", [("LL101", "num_epoch")]),
        ("python train.py --zebra=6", [("LL102", "zebra")]),
        ("torchrun --nproc_per_node 4 train.py --seed 1", [("LL102", "seed")]),
        ("python -m torch.distributed.launch --nproc_per_node 4 train.py --lora_r 8", [("LL131", "torchrun")]),
        ("deepspeed --num_gpus 4 train.py --lora_r 8", [("LL131", "deepspeed")]),
        ("python train.py --num-epochs=6 --lora_r 16 --noquiet -b Qwen/Qwen3-4B", []),
        ("torchrun --nproc_per_node 4 train.py --lora_r 8", []),
        ("python train.py --lora_r 8 -- --verbose", []),
    ],
)
def test_words_that_the_function_has_no_argument_for(tmp_path, line, wanted):
    assert told(tmp_path, line) == wanted


def test_a_function_that_takes_any(tmp_path):
    assert told(tmp_path, "python train.py --zebra 6", more=", **others") == []
