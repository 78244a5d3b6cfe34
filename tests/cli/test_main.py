from __future__ import annotations

import pytest

import loralint
from loralint.cli import COMMANDS


def test_help_lists_every_command_and_the_exit_codes(invoke):
    out = invoke("--help").output
    for name, says in COMMANDS.items():
        assert name in out
        assert says in " ".join(out.split())
    for words in (
        "0 passed",
        "1 not passed",
        "2 usage",
        "3 internal error",
        "4 nothing to lint",
        "loralint check config.yaml",
    ):
        assert words in " ".join(out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_its_options(invoke, name):
    for flag in ("--help", "-h"):
        result = invoke(name, flag)
        assert result.exit_code == 0
        assert result.output.startswith(f"Usage: loralint {name} ")
    from importlib import import_module

    command = import_module(f"loralint.cli.{name.replace('-', '_')}").command
    assert [option.name for option in command.params if option.param_type_name == "option" and not option.help] == []
    assert command.help


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(invoke, flag):
    assert invoke(flag).output == f"loralint, version {loralint.__version__}\n"


def test_without_a_command_there_is_help(invoke):
    assert "Commands:" in invoke().output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(command, shell):
    done = command(_LORALINT_COMPLETE=f"{shell}_source")
    if shell == "bash" and done.returncode:
        pytest.skip("this machine's bash is too old for click's completion")
    assert done.returncode == 0
    assert b"_LORALINT_COMPLETE" in done.stdout


def test_shell_completion_completes(command):
    done = command(_LORALINT_COMPLETE="bash_complete", COMP_WORDS="loralint ch", COMP_CWORD="1")
    assert done.stdout.split(b"\n")[0] == b"plain,check"


SABOTAGE = """
import sys
from loralint.engine import lint
def broken(document, job, project): raise RuntimeError("the token is hf_secret and " + document.text)
import loralint.api
loralint.api.lint = broken
from loralint.cli import main
sys.argv = ["loralint", "check", "good.yaml"]
main()
"""


def test_an_unforeseen_error_ends_with_3_and_quotes_nothing(command, folder):
    import os
    import subprocess
    import sys
    from pathlib import Path

    def run(**env):
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **env}
        return subprocess.run(
            [sys.executable, "-c", SABOTAGE], capture_output=True, check=False, cwd=folder, env=env, text=True
        )

    done = run()
    assert done.returncode == 3
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("internal error: RuntimeError at <string>:4; please report it")
    assert "hf_secret" not in line
    assert "base_model" not in line
    told = run(LORALINT_TRACEBACK="1")
    assert told.returncode != 0
    assert "Traceback" in told.stderr
