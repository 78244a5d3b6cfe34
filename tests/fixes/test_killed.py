"""Killed while it writes: each file is as it was or as it is to be, no record is broken, and the next fix completes it.

LORALINT_KILLS sets how often; docs/fixes.md says of how many the figure is.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from loralint.api import around, make_job, options
from loralint.engine.audit import audit
from loralint.engine.mend import Mended, mend
from loralint.engine.save import barred, save
from loralint.engine.settings import Settings
from loralint.engine.trail import Trail, read_trail
from loralint.source.read import read_file

KILLS = int(os.environ.get("LORALINT_KILLS", "20"))
HEAD = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_target_linear: true\nmicro_batch_size: 1\n"
)
OLD = HEAD + "lora_alpha: -16\nlora_dropout: -0.1\nlearning_rate: 0.0002\n" + "# more\n" * 500
NEW = OLD.replace("-16", "16").replace("-0.1", "0")
FILES = [f"{number}.yaml" for number in range(6)]


def _mended() -> Mended:
    job = make_job(Settings(), options(settings=Settings()))
    return mend([read_file(name, name) for name in FILES], job, lambda: around(FILES), barred=barred)


def _save(found: Mended) -> None:
    save(found, Trail(os.curdir, "Ann", "2026-01-15T10:00:00+00:00"))


def _fresh(folder: Path) -> None:
    folder.mkdir()
    os.chdir(folder)
    for name in FILES:
        Path(name).write_text(OLD)


def _seconds(found: Mended) -> float:
    """How long it takes to write these files when nobody kills it."""
    started = time.monotonic()
    _save(found)
    return time.monotonic() - started


def _killed_after(seconds: float, found: Mended) -> None:
    """Write in a process of its own, which dies after a while."""
    child = os.fork()
    if not child:
        try:
            _save(found)
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked and killed")
def test_old_or_new_and_the_trail_is_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # and back at the end
    _fresh(tmp_path / "first")
    found = _mended()
    span, seen = _seconds(found), set()
    for number in range(KILLS):
        _fresh(tmp_path / str(number))
        _killed_after(random.Random(number).uniform(0, 1.2 * span), found)
        texts = {name: Path(name).read_text() for name in FILES}
        assert set(texts.values()) <= {OLD, NEW}
        records, broken = read_trail(os.curdir)
        assert audit(os.curdir, records, broken).faults == ()
        recorded = [one.file for one in records.values()]
        assert all(recorded.count(name) == 2 for name, text in texts.items() if text == NEW), (
            "a change without a record"
        )
        seen.add((list(texts.values()).count(NEW), len(records)))
        _save(_mended())
        assert all(Path(name).read_text() == NEW for name in FILES)
        after, broken = read_trail(os.curdir)
        assert audit(os.curdir, after, broken, base=records).faults == ()
    assert KILLS < 20 or len(seen) > 3, "the kills came at too few points"
