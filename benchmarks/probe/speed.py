"""Arms in one stack against PEFT one by one, and the whole command: `python benchmarks/probe/speed.py [--device cuda]`

The same eight runs of 36 steps of 2x32 tokens on the embedded model, once as rows of a stack and once each as a model
of Transformers with PEFT and torch's AdamW, in turn (A B A B); then `loralint check --probe` as a process. With --uncut
PATH also a whole probe (ramp, course and controls) against the same arms and steps by PEFT on that model, of which a
few steps are timed each turn. Prints lines of JSON with the machine, its load and the date. Where there is no such
device it says so and ends.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import torch
from real import llama_of

from loralint.probe.arm import Arm
from loralint.probe.base import Base, embedded
from loralint.probe.experiment import Limits, experiment
from loralint.probe.local import local
from loralint.probe.loss import token_loss
from loralint.probe.modules import LINEAR
from loralint.probe.plan import Plan
from loralint.probe.ramp import STEPS, ramp
from loralint.probe.schedule import Schedule
from loralint.probe.stack import Stack
from loralint.probe.train import train

ARMS = [Arm(rank, 16, LINEAR, lr=1e-3, clip=1.0, seed=seed) for rank in (4, 8, 16, 32) for seed in (0, 1)]
CONFIG = Path(__file__).parents[1] / "lora.yaml"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--uncut", help="a folder of weights, as for --probe-model")
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        print("skipped: torch sees no CUDA device")
        return 0
    torch.set_num_threads(1)
    base = embedded(given.device)
    pairs = [(stacked(base), one_by_one(base)) for _ in range(given.pairs)]
    ratio = statistics.median(single / together for together, single in pairs)
    command, spent, peak = whole_command(given.device)
    device = torch.cuda.get_device_name() if given.device == "cuda" else platform.processor() or platform.machine()
    line = {"date": datetime.now(UTC).date().isoformat(), "device": device, "torch": torch.__version__}
    seconds = {"stacked_s": [round(one, 2) for one, _ in pairs], "peft_s": [round(one, 2) for _, one in pairs]}
    whole = {
        "command_s": round(command, 1),
        "command_cpu_s": round(spent, 1),
        "peak_mib": peak,
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps({**line, **seconds, "ratio": round(ratio, 2), **whole}))
    if given.uncut:
        print(json.dumps({**line, **against_uncut(base, given.uncut, given.pairs)}))
    return 0


def against_uncut(base: Base, path: str, pairs: int) -> dict[str, object]:
    """Seconds of a whole probe, and of as many steps of PEFT on the uncut model, its head cut to the tokens in use."""
    plan, device = Plan(ARMS[4]._replace(lr=0.05), 2, Schedule(), 500.0), base.rows.device.type
    real = local(path, device, whole=math.inf)
    found = []
    for _ in range(pairs):
        start = clock(device)
        outcome = experiment(plan, base, Limits())
        probe = clock(device) - start
        arms = 2 + len(outcome.edges)
        found.append((probe, arms * STEPS * one_step(real, ARMS[4])))
    ratio = statistics.median(single / probe for probe, single in found)
    seconds = {"probe_s": [round(a, 1) for a, _ in found], "uncut_s": [round(b, 1) for _, b in found]}
    return {**seconds, "times": round(ratio, 1)}


def one_step(real: Base, arm: Arm, steps: int = 6) -> float:
    """Seconds of a step of PEFT on a model, after a first one that does not count."""
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(r=arm.rank, lora_alpha=arm.alpha, target_modules=list(arm.targets))
    model, device = inject_adapter_in_model(config, copy.deepcopy(real.model)), real.rows.device.type
    own = [one for one in model.parameters() if one.requires_grad]
    optimizer, start = torch.optim.AdamW(own, lr=1e-3, weight_decay=0.0), 0.0
    for step, batch in enumerate(real.batches(steps + 1, 2, 0)):
        if step == 1:
            start = clock(device)
        token_loss(model(batch), batch).sum().backward()
        torch.nn.utils.clip_grad_norm_(own, arm.clip)
        optimizer.step()
        optimizer.zero_grad()
    return (clock(device) - start) / steps


def clock(device: str) -> float:
    """CPU seconds of this process, or on a GPU those of the clock once it is idle."""
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def stacked(base: Base) -> float:
    device, rates = base.rows.device.type, ramp("adamw")
    start = clock(device)
    stack = Stack(base.model, [arm._replace(gain=base.gain) for arm in ARMS])
    train(stack, base.batches(STEPS, 2, 0), lambda step: [rates[step]] * len(ARMS))
    stack.close()
    return clock(device) - start


def one_by_one(base: Base) -> float:
    device = base.rows.device.type
    models = [peft_model(base, arm) for arm in ARMS]  # made beforehand: only training counts
    start = clock(device)
    for model, arm in zip(models, ARMS, strict=True):
        own = [one for one in model.parameters() if one.requires_grad]
        optimizer = torch.optim.AdamW(own, lr=arm.lr, weight_decay=0.0)
        for rate, batch in zip(ramp("adamw"), base.batches(STEPS, 2, 0), strict=True):
            optimizer.param_groups[0]["lr"] = rate
            model(input_ids=batch, labels=batch).loss.backward()
            torch.nn.utils.clip_grad_norm_(own, arm.clip)
            optimizer.step()
            optimizer.zero_grad()
    return clock(device) - start


def peft_model(base: Base, arm: Arm) -> torch.nn.Module:
    """The embedded model in Transformers, with one adapter of PEFT."""
    from peft import LoraConfig, get_peft_model

    real = llama_of(base)
    settings = LoraConfig(r=arm.rank, lora_alpha=arm.alpha * base.gain, target_modules=list(arm.targets))
    return get_peft_model(real.to(base.rows.device), settings)


def whole_command(device: str) -> tuple[float, float, int]:
    """Seconds of the clock, of the CPU and MiB at most of `check --probe` on a config of 79 lines."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "loralint", "check", str(CONFIG), "--probe", "--device", device],
            check=False,
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(main())
