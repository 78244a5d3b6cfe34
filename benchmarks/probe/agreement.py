"""Does the ramp rank real runs? `python benchmarks/probe/agreement.py --out FILE.jsonl [--runs gt_full]`

Puts every recorded run's own settings through the ramp on the embedded model or another, one line a run, and goes on
where FILE ends. Then prints AUC within each optimizer and the table of bands. The recorded runs lie beside a
developer's checkout; without them it says so and ends.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch
from judged import gates
from runs import Real, real_runs

from loralint.probe.base import Base, embedded, loss_of
from loralint.probe.local import local
from loralint.probe.ramp import STEPS, edge, ramp
from loralint.probe.stack import Stack
from loralint.probe.toy import edge_for
from loralint.probe.train import train
from loralint.probe.verdict import band

TOGETHER, WIDTH = 6, 576  # runs in a stack; of SmolLM2-135M, which all recorded runs are of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", default="gt_full")
    parser.add_argument("--model", help="weights to run it on instead, as for --probe-model")
    parser.add_argument("--cut", action="store_true", help="heal a few layers of the model, as of one too large")
    parser.add_argument("--gain", type=float, help="instead of the card's")
    parser.add_argument("--rows", type=int, default=2)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--above", type=float, default=1.0, help="nats over the base that count as crossing")
    given = parser.parse_args()
    runs = real_runs(given.runs)
    if not runs:
        print(f"skipped: the recorded runs {given.runs} are not here")
        return 0
    torch.set_num_threads(1)
    start = time.process_time()
    base = local(given.model, "cpu", whole=0 if given.cut else None) if given.model else embedded()
    print(f"{base.title}: loss {loss_of(base):.2f}, loaded in {time.process_time() - start:.0f} CPU s", flush=True)
    if given.gain:
        base = base._replace(gain=given.gain)
    done = (
        {json.loads(line)["id"] for line in given.out.read_text("utf-8").splitlines()} if given.out.exists() else set()
    )
    with given.out.open("a", encoding="utf-8") as file:
        for line in measured(base, [run for run in runs if run.name not in done], given.rows, given.seed):
            file.write(json.dumps(line) + "\n")
            file.flush()
    lines = {one["id"]: one for one in map(json.loads, given.out.read_text("utf-8").splitlines())}
    report(runs, lines, given.above, base.kind)
    return 0


def measured(base: Base, runs: list[Real], rows: int, seed: int) -> Iterator[dict[str, object]]:
    """The ramp of each run, in groups of like shape."""
    batches = base.batches(STEPS, rows, seed)
    runs = sorted(runs, key=lambda run: (run.arm.optimizer, run.arm.rank > 16, len(run.arm.targets)))
    for optimizer in ("adamw", "sgd"):
        own = [run for run in runs if run.arm.optimizer == optimizer]
        for at in range(0, len(own), TOGETHER):
            group = own[at : at + TOGETHER]
            rates, start = ramp(optimizer), time.process_time()
            stack = Stack(base.model, [run.arm._replace(gain=base.gain) for run in group])
            traces, _ = train(stack, batches, functools.partial(_same, rates, len(group)), enough=3.0)
            stack.close()
            spent = (time.process_time() - start) / len(group)
            for run, trace in zip(group, traces, strict=True):
                yield {"id": run.name, "rates": trace.rates, "losses": trace.losses, "cpu_s": spent}


def _same(rates: list[float], arms: int, step: int) -> list[float]:
    return [rates[step]] * arms


def report(runs: list[Real], lines: dict[str, dict[str, list[float]]], above: float, kind: str) -> None:
    """AUC, the spread of the two kinds and, for bands around their middle, how the verdicts fall."""
    for optimizer in ("adamw", "sgd"):
        found = []
        for run in runs:
            if run.arm.optimizer == optimizer and run.name in lines:
                line = lines[run.name]
                own_edge = edge(line["rates"], [float(x) for x in line["losses"]], above)
                rate = edge_for(kind, run.arm, own_edge).rate
                found.append((run.arm.lr / rate, run.label == "unstable", run.name))
        bad, good = ([ratio for ratio, unstable, _ in found if unstable is which] for which in (True, False))
        if not bad or not good:
            continue
        auc = sum((b > g) + 0.5 * (b == g) for b in bad for g in good) / len(bad) / len(good)
        spread = f"lowest unstable {min(bad):.3g}, highest stable {max(good):.3g}"
        print(f"{optimizer}: {len(bad)} unstable, {len(good)} not; AUC {auc:.3f}; {spread}")
        own = band(kind, optimizer)
        low, high = own.stable, own.unstable
        table = Counter(
            ("stable" if r < low else "unstable" if r > high else "borderline", bool(u)) for r, u, _ in found
        )
        print(
            "  bands", low, high, {f"{band}/{'unstable' if u else 'fine'}": n for (band, u), n in sorted(table.items())}
        )
    gates((run.arm, WIDTH, run.label == "unstable") for run in runs if run.arm.optimizer == "adamw")
    print("CPU s a run:", round(sum(float(line["cpu_s"]) for line in lines.values()) / len(lines), 2))


if __name__ == "__main__":
    sys.exit(main())
