"""What the caller names and nobody can read is a usage error; what says nothing of a run is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import loralint


@pytest.mark.parametrize("option", ["--with", "--configmap"])
@pytest.mark.parametrize(
    ("path", "why"),
    [("nowhere.yaml", "no "), ("/dev/zero", "is a device, not a regular file"), ("pipe", "is a pipe, not a regular")],
)
def test_a_named_file_that_cannot_be_read_is_a_usage_error(invoke, folder, option, path, why):
    os.mkfifo(folder / "pipe")
    for command in (("check", "good.yaml"), ("inspect",), ("show", "good.yaml")):
        done = invoke(*command, option, f"x={path}" if option == "--configmap" else path)
        assert done.exit_code == 2
        assert path in done.output
        assert why in done.output


def test_a_folder_is_a_configmap_and_no_companion(invoke, folder):
    (folder / "maps").mkdir()
    assert invoke("check", "good.yaml", "--configmap", "x=maps").exit_code == 0
    done = invoke("check", "good.yaml", "--with", "maps")
    assert done.exit_code == 2
    assert "is a folder, not a regular file" in done.output


@pytest.mark.parametrize("line", ["'", 'accelerate launch "t.py', "python $(cat", "python `cat"])
def test_a_launch_line_that_no_shell_takes_is_a_usage_error(invoke, line):
    done = invoke("check", "good.yaml", "--launch", line + " hf_0123")
    assert done.exit_code == 2
    assert "the shell would not take this line" in done.output
    assert "is never closed" in done.output
    assert "hf_0123" not in done.output


@pytest.mark.parametrize(
    "line", ["python t.py --lr '1e-4'", "echo \\'", "cat <<E\nx", "axolotl train good.yaml # don't"]
)
def test_a_launch_line_that_a_shell_takes_is_read(invoke, line):
    assert invoke("check", "good.yaml", "--launch", line).exit_code == 0


def test_a_companion_that_says_nothing_of_a_run_is_told(invoke, folder: Path):
    done = invoke("check", "good.yaml", "--with", "none.yaml")
    assert done.exit_code == 0
    assert "not checked: what `none.yaml` says: it is no file of a run that is recognised" in done.output


def test_the_library_tells_of_a_companion_that_cannot_be_read(folder):
    (run,) = loralint.check("good.yaml", companions=["/dev/zero"]).runs
    assert "what `/dev/zero` says: not read: it is a device, not a regular file" in [one.message for one in run.notes]
