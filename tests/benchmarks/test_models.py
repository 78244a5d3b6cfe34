from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "models.py"
CONFIG = (
    "base_model: {}\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nmicro_batch_size: 1\ndatasets: [{{path: a, type: b}}]\n"
)


def measured(folder):
    return subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)


def test_names_that_are_not_known_are_listed_with_their_number(tmp_path):
    for number, base in enumerate(
        ["meta-llama/Llama-3.2-1B", "google/gemma-3-12b-custom", "made-up/name", "made-up/name"]
    ):
        (tmp_path / f"{number}.yaml").write_text(CONFIG.format(base))
    (tmp_path / "none.yaml").write_text(CONFIG.format("${BASE}"))
    done = measured(tmp_path)
    assert done.stdout.splitlines() == [
        "4 runs name a base model; its architecture is known of 2: 50.0% (bar 90%)",
        "of 4 language models the width is known of 1",
        "    2 made-up/name",
    ]
    assert done.returncode == 1


def test_all_known(tmp_path):
    (tmp_path / "one.yaml").write_text(CONFIG.format("unsloth/Qwen2.5-7B-Instruct-bnb-4bit"))
    done = measured(tmp_path)
    assert done.returncode == 0
    assert "known of 1: 100.0%" in done.stdout
