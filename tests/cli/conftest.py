"""The command in this process and as a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

GOOD = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
    "micro_batch_size: 1\nlearning_rate: 0.0002\n"
)
CONFIGS = {
    "good.yaml": GOOD,
    "block.yaml": GOOD.replace("lora_r: 16", "lora_r: 0"),
    "review.yaml": GOOD.replace("lora_alpha: 16", "lora_aplha: 16\nlora_alpha: 16"),
    "small.yaml": GOOD + "zebra_stripes: 7\n",
    "none.yaml": "services:\n  web:\n    image: nginx\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A checkout with a config of each verdict, which is the working folder."""
    (tmp_path / ".git").mkdir()
    for name, text in CONFIGS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "LORALINT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def invoke(folder: Path):
    """invoke("check", "good.yaml", ...) in this process."""
    from loralint.cli import main

    def run(*arguments: str, **given: Any) -> Result:
        return CliRunner().invoke(main, list(arguments), prog_name="loralint", **given)

    return run


@pytest.fixture
def command(folder: Path):
    """command("check", "good.yaml", ...) as a process; stdin, env and wanted bytes can be given."""

    def run(*arguments: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        return subprocess.run(
            [sys.executable, "-m", "loralint", *arguments],
            input=stdin, capture_output=True, check=False, timeout=60, cwd=folder,
            env={**os.environ, "PYTHONPATH": path, **env},
        )  # fmt: skip

    return run
