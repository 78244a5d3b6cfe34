"""Fixes that rest on a version, and fixes that put one key in the place of another."""

from __future__ import annotations

from pathlib import Path

import pytest

import loralint
from loralint.model import Finding
from loralint.source.edit import apply

BASE = "finetuning_type: lora\nmodel_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nbf16: true\n"


def finding(folder: Path, text: str, rule: str, target: list[str]) -> Finding:
    file = folder / "config.yaml"
    file.write_text(text, encoding="utf-8")
    report = loralint.check(file, framework="llamafactory", target=target)
    return next(one for one in report.runs[0].findings if one.rule == rule)


@pytest.mark.parametrize(
    ("target", "safe", "tier"), [([], False, "A"), (["transformers=4.51.3"], True, "S"), (["peft=0.18.1"], False, "A")]
)
def test_a_fix_for_an_assumed_version_is_not_safe(tmp_path, target, safe, tier):
    found = finding(tmp_path, BASE + "evaluation_strategy: epoch\nval_size: 0.1\n", "LL103", target)
    assert found.fix is not None
    assert (found.fix.safe, found.tier) == (safe, tier)
    assert found.help.endswith(", or pin the transformers that it was written for") == (tier == "A")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (BASE + "warmup_steps: 0.1\n", BASE + "warmup_ratio: 0.1\n"),
        (BASE + "warmup_steps: 0.1  # a share\nseed: 1\n", BASE + "warmup_ratio: 0.1\nseed: 1\n"),
        ("warmup_steps: 0.1\n" + BASE, BASE + "warmup_ratio: 0.1\n"),
        (BASE + "warmup_steps: 0.1", BASE + "warmup_ratio: 0.1\n"),
    ],
)
def test_a_key_that_takes_the_place_of_another_stands_beside_it(tmp_path, text, fixed):
    found = finding(tmp_path, text, "LL423", ["transformers=4.57.6"])
    assert found.fix is not None
    assert apply(text, found.fix.edits) == fixed
