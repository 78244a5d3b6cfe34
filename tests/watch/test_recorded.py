"""Signs held against real fine-tunes whose end is known: noisy logs, one batch of 2 x 32 tokens an entry."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from loralint.watch.history import Record, history
from loralint.watch.signs import signs

RUNS = ("gt_full", "gt_full_C", "gt_heal8", "gt_heal8_C", "gt_heal8_prec")
BETTER, WORSE = -0.02, 1.0  # nats of held-out loss against the base's


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[tuple[float, set[str]]]:
    """(change of the held-out loss, kinds of signs) of every run."""
    found = []
    for name in RUNS:
        for line in (shared / "reference" / "probe" / "runs" / f"{name}.jsonl").read_text("utf-8").splitlines():
            run = json.loads(line)
            entries = [
                Record({"step": step, "loss": loss, "grad_norm": norm})
                for step, (loss, norm) in enumerate(zip(run["loss"], run["gn"], strict=True), 1)
            ]
            kinds = {sign.kind for sign in signs(history("log", "recorded", entries))}
            found.append((run.get("ev", math.inf) - run["base_ev"], kinds))  # what blew up was ended early
    return found


def test_no_run_that_got_better_shows_a_sign(recorded):
    better = [kinds for change, kinds in recorded if change < BETTER]
    assert len(better) == 76
    assert not any(better)


def test_only_runs_that_broke_are_said_to_diverge(recorded):
    assert min(change for change, kinds in recorded if "log-diverging" in kinds) > WORSE


def test_most_that_broke_show_one(recorded):
    broke = Counter(min(kinds, default="") for change, kinds in recorded if change > WORSE)
    assert broke["log-diverging"] >= 18
    assert broke["log-not-learning"] >= 15
    assert broke[""] <= 6
