"""How verdicts fall on what became of real runs: `python benchmarks/probe/judged.py RUNS.jsonl ... [--verdicts FILE]`

Prints tables for the documentation: stability, learning, and what the static steps E and P say of the same runs.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from loralint.probe.arm import Arm
from loralint.probe.plan import Plan
from loralint.probe.schedule import Schedule

WORDS = ("STABLE", "NOT LEARNING", "BORDERLINE", "UNSTABLE")
_LABELS = ("learnt", "stalled", "unstable")
_CALM = ("STABLE", "NOT LEARNING")
# Widths of the residual stream by file; P is taken with them, as the linter does with `hidden_size`.
_WIDTHS = {"smollm2": 576, "gemma3": 640}
_BOUNDS = {"E": (0.05, 0.13, 0.3), "P": (0.1, 0.25, 0.5, 1.5, 2.5)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--verdicts", type=Path, help="of reprobe.py, instead of those in the runs")
    given = parser.parse_args()
    other = {line["number"]: line for line in lines(given.verdicts)} if given.verdicts else None
    runs = [{**run, "width": width(path)} for path in given.runs for run in lines(path)]
    if other is not None:
        runs = [{**run, **other[run["number"]]} for run in runs if run["number"] in other]
    stability(runs)
    learning(runs)
    for optimizer in sorted({run["arm"]["optimizer"] for run in runs}):
        spread(optimizer, [run for run in runs if run["arm"]["optimizer"] == optimizer])
    like_adam = [run for run in runs if run["width"] and run["arm"]["optimizer"] in ("adamw", "adafactor")]
    gates((plan_of(run).arm, run["width"], run["label"] == "unstable") for run in like_adam)
    return 0


def lines(path: Path) -> list[dict[str, Any]]:
    """The runs of a file; none where there is no such file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def plan_of(run: dict[str, Any]) -> Plan:
    """The configuration that a line of `fine_tunes.py` was made with."""
    arm = Arm(**{**run["arm"], "targets": tuple(run["arm"]["targets"])})
    return Plan(arm, min(8, max(2, run["batch"])), Schedule(*run["schedule"]), run["steps"])


def width(path: Path) -> int:
    return next((size for name, size in _WIDTHS.items() if name in path.name), 0)


def stability(runs: Sequence[dict[str, Any]]) -> None:
    """Verdict by label, and of those that the probe decided the share that is right."""
    count = Counter((run["verdict"], run["label"]) for run in runs)
    print("| verdict |", " | ".join(_LABELS), "|\n|---|---|---|---|")
    for word in WORDS:
        print(f"| {word} |", " | ".join(str(count[word, label]) for label in _LABELS), "|")
    decided = [run for run in runs if run["verdict"] != "BORDERLINE"]
    right = sum((run["verdict"] in _CALM) == (run["label"] != "unstable") for run in decided)
    print(
        f"\n{len(runs)} runs, {len(runs) - len(decided)} BORDERLINE; of the rest {shown(right, len(decided))} are right"
    )
    for word, wrong in (("STABLE", "unstable"), ("UNSTABLE", "learnt")):
        of = [run for run in runs if run["verdict"] == word]
        print(f"called {word} but {wrong}: {shown(sum(run['label'] == wrong for run in of), len(of))}")
    factors = [max(run["headroom"], 1 / run["headroom"]) for run in runs if run["verdict"] == "BORDERLINE"]
    if factors:
        print(f"BORDERLINE lie within a factor of {max(factors):.1f} of the edge")


def learning(runs: Iterable[dict[str, Any]]) -> None:
    """NOT LEARNING as a detector of stalled runs, among those that did not break."""
    calm = [run for run in runs if run["label"] != "unstable"]
    said = [run for run in calm if run["verdict"] == "NOT LEARNING"]
    stalled = [run for run in calm if run["label"] == "stalled"]
    hit = sum(run["label"] == "stalled" for run in said)
    print(f"\nNOT LEARNING: {len(stalled)} stalled and {len(calm) - len(stalled)} learnt;", end=" ")
    print(f"recall {shown(hit, len(stalled))}, precision {shown(hit, len(said))}")
    missed = (run for run in stalled if run["verdict"] != "NOT LEARNING")
    false = (run for run in said if run["label"] != "stalled")
    print(f"reach of the missed {reaches(missed)}, of the false {reaches(false)}")


def reaches(runs: Iterable[dict[str, Any]]) -> list[float]:
    """How far the steps of each take it; lines from before that was measured lack it."""
    return sorted(float(f"{run['reach']:.2g}") for run in runs if "reach" in run)


def spread(optimizer: str, runs: Sequence[dict[str, Any]]) -> None:
    """AUC of rate over ramp rate, and where the two kinds meet."""
    ratios = [(run["arm"]["lr"] / run["ramp"], run["label"] == "unstable") for run in runs]
    print(f"\n{optimizer}: {len(runs)} runs; {ranked(ratios)}")


def ranked(pairs: Sequence[tuple[float, bool]]) -> str:
    """AUC, lowest of the unstable and highest of the others."""
    bad, good = ([value for value, unstable in pairs if unstable is which] for which in (True, False))
    if not bad or not good:
        return f"{len(bad)} unstable, {len(good)} not"
    auc = sum((b > g) + 0.5 * (b == g) for b in bad for g in good) / len(bad) / len(good)
    meet = f"lowest unstable {min(bad):.3g}, highest other {max(good):.3g}"
    return f"{len(bad)} unstable, {len(good)} not; AUC {auc:.3f}; {meet}"


def gates(runs: Iterable[tuple[Arm, int, bool]]) -> None:
    """The static steps on the same runs, E = alpha_eff lr_B and P = E lr_A width, at the golden list's bounds."""
    known = [(static(arm, size), unstable) for arm, size, unstable in runs]
    for name, bounds in _BOUNDS.items():
        values = [(steps[name], unstable) for steps, unstable in known]
        print(f"\n{name}: {ranked(values)}")
        for bound in bounds:
            above, below = ([broke for value, broke in values if (value > bound) is which] for which in (True, False))
            print(f"  {bound}: broke above it {shown(sum(above), len(above))}, below {shown(sum(below), len(below))}")


def static(arm: Arm, size: int) -> dict[str, float]:
    """E and P of a run. size: width of the residual stream."""
    first = arm.scale * arm.rank * arm.lr * arm.lr_ratio
    return {"E": first, "P": first * arm.lr * size}


def shown(part: int, whole: int) -> str:
    """k of n with Wilson's 95 % interval."""
    if not whole:
        return "0 of 0"
    share, z = part / whole, 1.96
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)
    return f"{part} of {whole} ({share:.2f}; {max(0.0, middle - half):.2f} to {min(1.0, middle + half):.2f})"


if __name__ == "__main__":
    sys.exit(main())
