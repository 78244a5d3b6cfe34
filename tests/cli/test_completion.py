from __future__ import annotations

import os
import subprocess
import sys

import pytest


def _complete(line):
    words = line.split(" ")
    env = {**os.environ, "_LORALINT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    code = "from loralint.cli import main; main(prog_name='loralint')"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    return [row.partition(",")[2] for row in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("loralint check --framework axo", ["axolotl"]),
        ("loralint check --gpu l40", ["L40", "L40S"]),
        ("loralint check --gp", ["--gpu"]),
        ("loralint check --format c", ["concise"]),
        ("loralint explain bf16-un", ["bf16-unsupported-gpu"]),
        ("loralint explain ll214", ["LL214"]),
        ("loralint golden lora.", ["lora.E", "lora.P", "lora.alpha_eff", "lora.ratio"]),
        ("loralint golden gp", ["gpu"]),
        ("loralint rules warm-up-longer", ["warm-up-longer-than-run"]),
        ("loralint expl", ["explain"]),
    ],
)
def test_the_shell_completes(line, words):
    assert _complete(line) == words
