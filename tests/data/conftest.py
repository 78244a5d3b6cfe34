"""A run with files of rows, from what is written in a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import loralint
from loralint.model import Finding, Run

AXOLOTL = (
    "base_model: Qwen/Qwen2.5-0.5B\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
    "micro_batch_size: 1\nlearning_rate: 0.0002\nsequence_len: 64\ndatasets:\n  - path: train.jsonl\n    type: alpaca\n"
)


class Checked:
    """A run and what of it is about rows."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @property
    def findings(self) -> list[Finding]:
        return [one for one in self.run.findings if one.rule.startswith("LL6")]

    @property
    def rules(self) -> list[str]:
        return [one.rule for one in self.findings]

    @property
    def notes(self) -> list[str]:
        return [note.message for note in self.run.notes]

    def tier(self, rule: str) -> str:
        return next(one.tier for one in self.findings if one.rule == rule)

    def message(self, rule: str) -> str:
        return next(one.message for one in self.findings if one.rule == rule)


@pytest.fixture
def alpaca():
    """alpaca("Say hello.", "Hello!", id=7) -> a row."""
    return lambda asked, told, **more: {"instruction": asked, "output": told, **more}


@pytest.fixture
def checked(tmp_path: Path, monkeypatch):
    """checked(rows or text or bytes, config=..., evaluation=..., name=...) -> Checked."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, rows: Any) -> str:
        if not isinstance(rows, (str, bytes)):
            rows = "".join(json.dumps(row) + "\n" for row in rows)
        Path(name).write_bytes(rows.encode() if isinstance(rows, str) else rows)
        return name

    def run(rows: Any, /, config: str = AXOLOTL, evaluation: Any = None, name: str = "train.jsonl", **more: Any):
        Path("config.yaml").write_text(config, encoding="utf-8")
        held_out = [write("eval.jsonl", evaluation)] if evaluation is not None else []
        report = loralint.check("config.yaml", data=[write(name, rows)], eval_data=held_out, **more)
        return Checked(report.runs[0])

    return run
