"""Verdicts of another base on real runs: `python benchmarks/probe/reprobe.py RUNS.jsonl --model PATH --out FILE`

One line a run with its number and the verdict; goes on where FILE ends. `judged.py RUNS.jsonl --verdicts FILE` reads
both.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import torch
from fine_tunes import verdict
from judged import lines, plan_of

from loralint.probe.base import embedded
from loralint.probe.local import local


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", help="as for --probe-model; the embedded one without it")
    parser.add_argument("--cut", action="store_true", help="heal a few layers of the model, as of one too large")
    parser.add_argument("--kinds", nargs="+", default=("near", "wide", "slow"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    done = {line["number"] for line in lines(given.out)}
    base = local(given.model, "cpu", whole=0 if given.cut else None) if given.model else embedded()
    with given.out.open("a", encoding="utf-8") as file:
        for run in lines(given.runs):
            if run["number"] in done or run["kind"] not in given.kinds:
                continue
            start = time.process_time()
            told = {"number": run["number"], "model": base.title, **verdict(plan_of(run), base)}
            line = json.dumps({**told, "cpu_s": round(time.process_time() - start, 1)})
            file.write(line + "\n")
            file.flush()
            print(line, run["label"], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
