"""What the probe's campaign draws, and how its runs are judged: plain counting, without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "probe"


def _line(number, verdict, label, lr, optimizer="adamw"):
    arm = {"rank": 8, "alpha": 16, "targets": ["q_proj"], "lr": lr, "optimizer": optimizer, "lr_ratio": 1.0}
    about = {"number": number, "verdict": verdict, "headroom": 0.15 * 0.05 / lr, "ramp": 0.05, "label": label}
    return {
        **about,
        "batch": 2,
        "steps": 100,
        "reach": 100 * lr,
        "schedule": ["constant", 0.0, 0.0],
        "kind": "near",
        "arm": arm,
    }


def _judged(path, *options):
    done = subprocess.run(
        [sys.executable, str(FOLDER / "judged.py"), str(path), *options], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def runs(tmp_path):
    lines = [
        *(_line(number, "STABLE", "learnt", 1e-3) for number in range(8)),
        _line(8, "STABLE", "unstable", 2e-3),
        _line(9, "BORDERLINE", "unstable", 1e-2),
        *(_line(number, "UNSTABLE", "unstable", 3e-2) for number in range(10, 13)),
        _line(13, "NOT LEARNING", "stalled", 1e-6),
        _line(14, "STABLE", "stalled", 1e-5),
    ]
    path = tmp_path / "fine_tunes-smollm2.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_verdicts_are_counted_against_what_became_of_the_runs(runs):
    said = _judged(runs)
    assert "| STABLE | 8 | 1 | 1 |" in said
    assert "15 runs, 1 BORDERLINE; of the rest 13 of 14 (0.93; 0.69 to 0.99) are right" in said
    assert "called STABLE but unstable: 1 of 10 (0.10; 0.02 to 0.40)" in said
    assert "recall 1 of 2 (0.50; 0.09 to 0.91), precision 1 of 1" in said
    assert "reach of the missed [0.001], of the false []" in said


def test_the_static_steps_are_those_of_the_linter(runs):
    said = _judged(runs)
    assert "P: 5 unstable, 10 not; AUC 1.000; lowest unstable 0.0369, highest other 0.00922" in said  # 16 * lr^2 * 576


def test_verdicts_of_another_base_take_the_place_of_those_in_the_runs(runs, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"number": 8, "verdict": "UNSTABLE", "headroom": 0.2, "ramp": 0.001}) + "\n")
    assert "1 runs, 0 BORDERLINE; of the rest 1 of 1" in _judged(runs, "--verdicts", str(other))


def test_a_number_is_always_the_same_configuration(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from draws import drawn

    assert drawn(1005) == drawn(1005) != drawn(1006)
    kinds = [drawn(number).kind for number in range(1000, 1010)]
    assert kinds == ["near", "slow", "near", "wide", "slow"] * 2
    slow = [drawn(number).plan.arm for number in range(1001, 1400, 5)]
    assert {arm.optimizer for arm in slow} == {"adamw", "sgd", "lion", "adafactor"}
    assert {arm.rank for arm in slow} == {2, 4, 8, 16, 32, 64, 128}
