"""What is wrong with a command line, told once and at its place."""

from __future__ import annotations

import pytest

from loralint.frameworks.launch.faults import observed


def _told(find, text):
    (launch,) = find(text)
    return [(one.kind, one.effect, one.value.key) for one in observed(launch, "")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("accelerate launch train.py --num_processes 8", [("misplaced", "lost", "num_processes")]),
        ("torchrun train.py --nproc_per_node 8", [("misplaced", "lost", "nproc_per_node")]),
        ("torchrun --lora_r 8 train.py", [("misplaced", "crash", "lora_r")]),
        ("deepspeed --learning_rate 1 train.py", [("misplaced", "crash", "learning_rate")]),
        ("accelerate launch train.py --lora_r 8\n  --lora_alpha 16", [("shell", "lost", "--lora_alpha")]),
        ("swift sft --model= m", [("shell", "crash", "--model")]),
        ("M = m\nswift sft --model ${M} --lora_rank 8", [("shell", "lost", "M")]),
        ("M = m\nswift sft --model m --x $MM", []),
        ("swift sft --model m\\\n--lora_rank 8", [("shell", "changed", "\\")]),
        ("torchrun --lora_r 8 --lora_alpha 16 --seed 1 train.py", [("misplaced", "crash", "lora_r")]),
        ("swift sft --model m \\\r\n  --lora_rank 8\r\n", [("shell", "lost", "\\")]),
        ("swift sft --model m --lora_rank 8\r\n", []),
        ("accelerate launch --multi_gpu --num_processes 1 train.py", [("rejected", "crash", "num_processes")]),
        ("accelerate launch --multi_gpu --num_processes=$N train.py", []),
        ("accelerate launch --multi_gpu --num_processes 2 train.py", []),
        ("accelerate launch --num_processes 1 train.py", []),
        ("accelerate launch --multi_gpu --use_deepspeed train.py", [("rejected", "crash", "use_deepspeed")]),
        ("accelerate launch --use_fsdp --num_processes 2 train.py --cpu", []),
        ("llamafactory-cli train a.yaml --lr 1 x=2", [("misplaced", "crash", "lr")]),
        ("llamafactory-cli train a.yaml lr=1", []),
        ("llamafactory-cli train --stage sft --model_name_or_path m", []),
        ("python train.py --num_processes 8", []),
        ("accelerate launch --num_processes 8 train.py --mixed_precision bf16 --deepspeed ds.json", []),
        ("torchrun --nproc-per-node=2 --rdzv_backend c10d train.py --local_rank 0", []),
        ("deepspeed --num_gpus 2 --master_port 1 train.py --deepspeed ds.json", []),
    ],
)
def test_observations(find, text, wanted):
    assert _told(find, text) == wanted


@pytest.mark.parametrize(
    ("text", "known", "told"),
    [
        ("deepspeed --num_gpus 2 src/train.py a.yaml", "llamafactory", True),
        ("deepspeed --no_local_rank --num_gpus 2 src/train.py a.yaml", "llamafactory", False),
        ("deepspeed --num_gpus 2 src/train.py --deepspeed ds.json", "llamafactory", False),
        ("deepspeed --num_gpus 2 train.py a.yaml", "", False),
        ("torchrun --nproc_per_node 2 src/train.py a.yaml", "llamafactory", False),
    ],
)
def test_a_config_that_has_to_be_the_first_word(find, text, known, told):
    (launch,) = find(text)
    assert ("config" in [one.value.key for one in observed(launch, known)]) is told


def test_a_launcher_that_has_its_own_makes_the_second_superfluous(find):
    (launch,) = find("accelerate launch --num_processes 2 train.py --num_processes 8")
    (one,) = observed(launch, "")
    assert one.data["advice"].startswith("remove")


def test_a_fault_belongs_to_the_launch_that_it_cuts(find):
    first, second = find("swift sft --model a\n  --seed 1\n\n\nswift sft --model b\n")
    assert [len(first.faults), len(second.faults)] == [1, 0]
