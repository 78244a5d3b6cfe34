"""A blank beside the `=` of a launcher's variable, and a variable that only a command of the shell's own gets."""

from __future__ import annotations

import pytest

from loralint.api import check

START = "swift sft --model Qwen/Qwen2.5-0.5B --dataset a/b --tuner_type lora\n"


def told(tmp_path, text):
    path = tmp_path / "run.sh"
    path.write_text(text)
    return [one.key for run in check(path).runs for one in run.findings if one.rule == "LL130"]


@pytest.mark.parametrize(
    "line", ["CUDA_VISIBLE_DEVICES= 0\\,1", "export CUDA_VISIBLE_DEVICES= 0,1", "CUDA_VISIBLE_DEVICES =0"]
)
def test_it_is_told_once(tmp_path, line):
    assert told(tmp_path, f"#!/bin/bash\n{line}\n{START}") == ["CUDA_VISIBLE_DEVICES"]


@pytest.mark.parametrize(
    "text",
    [
        f"export CUDA_VISIBLE_DEVICES=0,1\n{START}",
        f"CUDA_VISIBLE_DEVICES= {START}",
        f"# CUDA_VISIBLE_DEVICES= 0,1\n{START}",
        f"echo CUDA_VISIBLE_DEVICES = 0\n{START}",
        "CUDA_VISIBLE_DEVICES= 0,1\nls\n",
    ],
)
def test_what_sets_it_and_what_starts_nothing_is_left_alone(tmp_path, text):
    assert told(tmp_path, text) == []


@pytest.mark.parametrize("before", ["", "export CUDA_VISIBLE_DEVICES\n", "export A=1; CUDA=1\n"])
def test_a_variable_for_a_command_of_the_shell_is_told(tmp_path, before):
    assert told(tmp_path, f"#!/bin/bash\n{before}CUDA_VISIBLE_DEVICES=1 export WANDB_MODE=offline\n{START}") == [
        "CUDA_VISIBLE_DEVICES"
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"#!/bin/sh\nCUDA_VISIBLE_DEVICES=1 export WANDB_MODE=offline\n{START}",
        f"CUDA_VISIBLE_DEVICES=1 export WANDB_MODE=offline\nCUDA_VISIBLE_DEVICES=1 {START}",
        f"CUDA_VISIBLE_DEVICES=1 export WANDB_MODE=offline\nexport A=1 CUDA_VISIBLE_DEVICES\n{START}",
        f"CUDA_VISIBLE_DEVICES=1 export A=1; export CUDA_VISIBLE_DEVICES\n{START}",
        f"{START}CUDA_VISIBLE_DEVICES=1 export WANDB_MODE=offline\n",
    ],
)
def test_one_that_is_set_otherwise_or_reaches_nothing_is_left_alone(tmp_path, text):
    assert told(tmp_path, text) == []
