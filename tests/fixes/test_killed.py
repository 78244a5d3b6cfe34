"""Killed while it writes: each file is as it was or as it is to be, no record is broken, and the next run completes it.

LORALINT_KILLS sets how often; the figure in docs/fixes.md is of 200.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loralint.engine.audit import audit
from loralint.engine.trail import FOLDER, read_trail

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("LORALINT_KILLS", "6"))
HEAD = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_target_linear: true\nmicro_batch_size: 1\n"
)
OLD = HEAD + "lora_alpha: -16\nlora_dropout: -0.1\nlearning_rate: 0.0002\n" + "# more\n" * 2000
NEW = OLD.replace("-16", "16").replace("-0.1", "0")
FILES = 12
# Says when all is thought out and nothing is written yet.
CHILD = """
import loralint.cli.fixing as fixing
from loralint.cli import main
save = fixing.save
def told(*given):
    print("ready", flush=True)
    return save(*given)
fixing.save = told
main(["check", "--fix", "--isolated", "."])
"""


def _start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _write(folder: Path) -> None:
    for number in range(FILES):
        (folder / f"{number}.yaml").write_text(OLD)


def _seconds(folder: Path) -> float:
    """How long the writing of this folder takes when nobody kills it."""
    _write(folder)
    process = _start(folder, "-c", CHILD)
    assert process.stdout is not None
    process.stdout.readline()
    started = time.monotonic()
    while any((folder / f"{number}.yaml").read_text() == OLD for number in range(FILES)):
        time.sleep(0.0005)
    took = time.monotonic() - started
    process.communicate()
    return took


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_old_or_new_and_the_trail_is_whole(tmp_path):
    (tmp_path / "first").mkdir()
    span, seen = _seconds(tmp_path / "first"), set()
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        _write(folder)
        process = _start(folder, "-c", CHILD)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.Random(number).uniform(0, 1.1 * span))
        process.kill()
        process.communicate()
        texts = [(folder / f"{one}.yaml").read_text() for one in range(FILES)]
        assert set(texts) <= {OLD, NEW}
        seen.add(texts.count(NEW))
        records, broken = read_trail(str(folder))
        assert audit(str(folder), records, broken).faults == ()
        changed = {one.file for one in records.values()}
        assert changed >= {f"{one}.yaml" for one, text in enumerate(texts) if text == NEW}, "a change without a record"
        again = _start(folder, "-m", "loralint", "check", "--fix", "--isolated", ".")
        again.communicate()
        assert all((folder / f"{one}.yaml").read_text() == NEW for one in range(FILES))
        after, broken = read_trail(str(folder))
        assert audit(str(folder), after, broken, base=records).faults == ()
        assert len(list((folder / FOLDER).glob("*.json"))) == len(after)
    assert KILLS < 50 or len(seen) > 3, "the kills came at too few points"
