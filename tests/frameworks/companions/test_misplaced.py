"""Options of a launcher that stand behind the script's name."""

from __future__ import annotations

import pytest

from loralint.frameworks.companions.misplaced import misplaced
from loralint.frameworks.launch import launches
from loralint.source.read import read_bytes
from loralint.source.shell import read_shell


def found(line: str) -> list[tuple[str, object]]:
    document = read_bytes((line + "\n").encode(), "run.sh")
    launch = launches(read_shell(document), document)[0]
    return [(one.value.key, one.data["by"]) for one in misplaced(launch)]


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("accelerate launch --config_file z3.yaml train.py --num_processes=8", [("num_processes", "accelerate")]),
        ("accelerate launch --num_processes 8 train.py --mixed_precision bf16", []),
        ("torchrun train.py --nproc_per_node 4 --lora_r 8", [("nproc_per_node", "torchrun")]),
        ("deepspeed train.py --num_gpus 4 --deepspeed ds.json", [("num_gpus", "deepspeed")]),
        ("python train.py --num_processes 8", []),
        ("trl sft --config a.yaml --num_processes 8", []),
    ],
)
def test_options_behind_the_script(line: str, keys: list[tuple[str, str]]) -> None:
    assert found(line) == keys
