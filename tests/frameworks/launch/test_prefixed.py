"""A blank beside the `=` of a launcher's variable."""

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
