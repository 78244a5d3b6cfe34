"""The real command on hostile input, with what it cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

# A parent as small as the interpreter itself: the kernel counts its memory into the child's peak until it execs.
MEASURE = """
import os, sys
out = os.open(sys.argv[1] + ".out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
err = os.open(sys.argv[1] + ".err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
command = sys.argv[2:]
actions = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)]
child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""

# Work of an interpreter that takes USUAL CPU seconds where the bound was set; what takes longer, takes all longer.
WORK = "import ast\nfor n in range(100): ast.parse('x = f(a, b=[1, 2])\\n' * 300)"
USUAL = 0.4
SECONDS = 2


class Done(NamedTuple):
    """How the command ended. seconds: CPU time, which other programs change less. mib: peak resident memory."""

    code: int
    out: str
    err: str
    seconds: float
    mib: float

    def findings(self) -> list[tuple[str, str, int, int]]:
        """(rule, tier, line, column) of a JSON report."""
        runs = json.loads(self.out)["runs"]
        return [(one["rule"], one["tier"], one["line"], one["column"]) for run in runs for one in run["findings"]]

    def notes(self) -> list[str]:
        """Messages of a JSON report."""
        return [note["message"] for run in json.loads(self.out)["runs"] for note in run["notes"]]


@pytest.fixture
def hostile(tmp_path: Path):
    """hostile("check", "config.yaml", ...) -> Done; fails at once on a traceback, over 200 MiB or over 2 seconds, of a
    machine that is slower in so far more.
    """
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()

    def measured(*command: str, stdin: str = os.devnull) -> Done:
        root = str(Path(__file__).parents[2])
        env = {name: value for name, value in os.environ.items() if name not in ("LORALINT_TRACEBACK", "FORCE_COLOR")}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        whole = [sys.executable, "-S", "-E", "-c", MEASURE, str(tmp_path / "to"), sys.executable, *command]
        with open(stdin, "rb") as source:
            told = subprocess.run(
                whole, stdin=source, capture_output=True, text=True, check=True, timeout=60, cwd=folder, env=env
            )
        code, seconds, mib = told.stdout.split()
        out = (tmp_path / "to.out").read_text(encoding="utf-8")
        err = (tmp_path / "to.err").read_text(encoding="utf-8")
        return Done(int(code), out, err, float(seconds), float(mib))

    def run(*arguments: str, stdin: str = os.devnull) -> Done:
        done = measured("-m", "loralint", *arguments, stdin=stdin)
        out, err = done.out, done.err
        assert "Traceback" not in out + err
        assert "internal error" not in out + err
        assert done.code in (0, 1, 2, 4)
        if done.seconds >= SECONDS:
            assert done.seconds < SECONDS * measured("-c", WORK).seconds / USUAL
        assert done.mib < 200
        return done

    run.folder = folder
    return run
