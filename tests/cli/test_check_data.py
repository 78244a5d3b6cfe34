from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

ROWS = '{"instruction": "Say hello.", "output": "Hello!"}\n{"instruction": "Say goodbye.", "output": ""}\n'


def test_rows_are_checked_with_the_config(invoke, folder):
    (folder / "train.jsonl").write_text(ROWS)
    result = invoke("check", "good.yaml", "--data", "train.jsonl", "--format", "json")
    report = json.loads(result.output)
    assert [(one["rule"], one["file"], one["line"]) for one in report["runs"][0]["findings"]] == [
        ("LL605", "train.jsonl", 2)
    ]
    assert report["runs"][0]["files"] == ["good.yaml", "train.jsonl"]


def test_a_broken_row_fails_the_check(invoke, folder):
    (folder / "train.jsonl").write_text(ROWS + "{")
    result = invoke("check", "good.yaml", "--data", "train.jsonl")
    assert result.exit_code == 1
    assert "train.jsonl:3:1" in result.output


def test_a_wrong_name_is_a_usage_error(invoke, folder):
    (folder / "train.csv").write_text("a,b\n")
    for name in ("train.jsonl", "train.csv"):
        result = invoke("check", "good.yaml", "--data", name)
        assert result.exit_code == 2
        assert name in result.stderr


def test_a_file_of_rows_is_no_tokenizer(invoke, folder):
    (folder / "train.jsonl").write_text(ROWS)
    result = invoke("check", "good.yaml", "--data", "train.jsonl", "--tokenizer", "train.jsonl")
    assert result.exit_code == 2
    assert "train.jsonl: no tokenizer.json as the library tokenizers writes it" in result.stderr


def test_a_pipe_is_told_and_not_waited_for(command, folder):
    os.mkfifo(folder / "train.jsonl")
    done = command("check", "good.yaml", "--data", "train.jsonl")
    assert done.returncode == 1
    assert b"it is a pipe, not a regular file" in done.stdout


def test_the_bar_is_for_terminals_only(command, folder):
    (folder / "train.jsonl").write_text(ROWS * 20_000)
    done = command("check", "good.yaml", "--data", "train.jsonl")
    assert done.stderr == b""
    leader, follower = pty.openpty()
    root = str(Path(__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))}
    program = [sys.executable, "-m", "loralint", "check", "good.yaml", "--data", "train.jsonl"]
    subprocess.run(program, stdout=subprocess.DEVNULL, stderr=follower, check=False, cwd=folder, env=env, timeout=60)
    os.close(follower)
    assert b"100%" in os.read(leader, 1 << 16)
    os.close(leader)
