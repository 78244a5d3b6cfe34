"""Does the ramp on a run's own model tell that it will stall?

    python benchmarks/probe/gains.py RUNS.jsonl ... --model PATH --out FILE [--recorded RAMPS.jsonl]

Of every run that did not break: what the ramp has gained when its rates sum to the run's, in nats, against what the run
gained itself. Goes on where FILE ends. "embedded" is the probe's own model, for runs of that. --recorded adds recorded
runs (runs.py), by the ramps that agreement.py made of them. Prints recall and precision at the bound.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from judged import lines, plan_of, shown
from runs import real_runs

from loralint.probe.base import Base, embedded
from loralint.probe.local import local
from loralint.probe.plan import Plan
from loralint.probe.ramp import STEPS, ramp
from loralint.probe.reach import gained, sum_of_rates
from loralint.probe.stack import Stack
from loralint.probe.train import train
from loralint.probe.verdict import band, with_fewer_rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recorded", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    done = {line["number"] for line in lines(given.out)}
    runs = [run for path in given.runs for run in lines(path) if run["label"] != "unstable"]
    if wanted := [run for run in runs if run["number"] not in done]:
        base = embedded() if given.model == "embedded" else local(given.model, "cpu")
        with given.out.open("a", encoding="utf-8") as file:
            for run in wanted:
                line = json.dumps({"number": run["number"], **told(run, base)})
                file.write(line + "\n")
                file.flush()
                print(line, flush=True)
    report([*lines(given.out), *(recorded(given.recorded) if given.recorded else ())])
    return 0


def told(run: dict[str, Any], base: Base) -> dict[str, Any]:
    """What the ramp gains, the bound for it, and what the run gained; the ramp ends when its rates sum to the run's."""
    plan, start = plan_of(run), time.process_time()
    rates, rows = ramp(plan.arm.optimizer), base.rows_for(plan.rows)
    enough = next((k + 2 for k, rate in enumerate(accumulate(rates)) if rate >= sum_of_rates(plan)), STEPS)
    stack = Stack(base.model, (plan.arm._replace(gain=base.gain),))
    (trace,), _ = train(stack, base.batches(STEPS, rows, 0)[:enough], lambda step: [rates[step]], enough=3.0)
    stack.close()
    bound = with_fewer_rows(band("own", plan.arm.optimizer), plan.rows, rows).learns
    found = {"gained": gained(plan, rates, trace.losses), "bound": bound, "steps": enough}
    return {**found, "label": run["label"], "run": run["base_ev"] - run["ev"], "cpu_s": time.process_time() - start}


def recorded(path: Path) -> Iterator[dict[str, Any]]:
    """The same of the recorded runs, all of two rows a step."""
    ramps = {line["id"]: line for line in lines(path)}
    for run in real_runs("gt_full"):
        if run.label != "unstable" and run.name in ramps:
            line, plan = ramps[run.name], Plan(run.arm, 2, run.schedule, run.steps)
            found = gained(plan, line["rates"], [float(loss) for loss in line["losses"]])
            yield {"gained": found, "bound": band("own", run.arm.optimizer).learns, "label": run.label}


def report(found: Iterable[dict[str, Any]]) -> None:
    """Recall and precision, and how near the bound the two kinds come."""
    found = list(found)
    said = [one for one in found if one["gained"] is not None and one["gained"] < one["bound"]]
    stalled = [one for one in found if one["label"] == "stalled"]
    hit = sum(one["label"] == "stalled" for one in said)
    print(f"{len(stalled)} stalled and {len(found) - len(stalled)} learnt:", end=" ")
    print(f"recall {shown(hit, len(stalled))}, precision {shown(hit, len(said))}")
    learnt = [one["gained"] for one in found if one["label"] == "learnt" and one["gained"] is not None]
    print(f"least that the ramp gained for one that learnt: {min(learnt, default=0.0):.3g}")


if __name__ == "__main__":
    sys.exit(main())
