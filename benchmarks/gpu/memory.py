"""What training steps take on a real GPU, against the formulas of `loralint.facts.memory`.

    python benchmarks/gpu/memory.py [--device cpu --tiny] [--out FOLDER] [WORDS OF A CASE ...]

Takes two steps of each configuration of memory_cases.py and asks torch for the most that was allocated and reserved in
the second, and the driver for all that the process held. Prints predicted and measured GiB, and writes them to
memory.json. `--tiny --device cpu` goes the same way without a GPU, with sizes that take seconds and tensors counted one
by one. Needs torch, transformers and peft; the largest configuration needs 30 GiB.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import torch

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from memory import Alive  # noqa: E402
from memory_cases import CASES, GIB, ON_GPU, Case, model_of, plan, train  # noqa: E402

from loralint.facts.memory.peak import parts  # noqa: E402


class Measured(NamedTuple):
    """Bytes in the second step: allocated by tensors, reserved by the allocator, held by the process; and seconds."""

    allocated: int
    reserved: int
    held: int
    seconds: float


def on_gpu(case: Case, *, bitsandbytes: bool) -> Measured:
    gc.collect()
    torch.cuda.empty_cache()
    free_before = torch.cuda.mem_get_info()[0]
    start = time.monotonic()
    model = model_of(case, "cuda", bitsandbytes=bitsandbytes)
    torch.cuda.empty_cache()
    passes = 2 * case.accumulation + 1
    for number, _ in enumerate(train(model, case, "cuda"), 1):
        if number == passes:
            torch.cuda.reset_peak_memory_stats()
    torch.cuda.synchronize()
    held = free_before - torch.cuda.mem_get_info()[0]
    allocated, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    return Measured(allocated, reserved, held, time.monotonic() - start)


def on_cpu(case: Case, *, bitsandbytes: bool) -> Measured:
    start = time.monotonic()
    model = model_of(case, "cpu", bitsandbytes=bitsandbytes)
    with Alive() as alive:
        for one in (*model.parameters(), *model.buffers()):
            alive.add(one.data)
        for _ in train(model, case, "cpu"):
            pass
    return Measured(alive.peak, alive.peak, alive.peak, time.monotonic() - start)


def smaller(case: Case) -> Case:
    """The same configuration of a model that a CPU trains in a moment."""
    return case._replace(size="tiny", length=min(case.length, 128))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument(
        "--bitsandbytes", action="store_true", help="quantise with it, where nf4 is emulated otherwise; also ON_GPU"
    )
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    cases = [
        one
        for one in CASES + (ON_GPU if given.bitsandbytes else [])
        if not given.words or any(word in one.name for word in given.words)
    ]
    context = 0
    if given.device == "cuda":
        torch.zeros(1, device="cuda")
        context = torch.cuda.mem_get_info()[1] - torch.cuda.mem_get_info()[0]
    card = torch.cuda.get_device_name() if given.device == "cuda" else "cpu"
    print(
        f"{card}, torch {torch.__version__}, held by the first tensor (with what others hold): {context / GIB:.2f} GiB"
    )
    print(f"{'configuration':48} formula allocated ratio reserved   held  s")
    rows = []
    for case in map(smaller, cases) if given.tiny else cases:
        told = parts(plan(case))
        try:
            seen = (on_gpu if given.device == "cuda" else on_cpu)(case, bitsandbytes=given.bitsandbytes)
        except (RuntimeError, ImportError, ValueError, TypeError, AttributeError) as error:
            print(f"{case.name:48} {told.total / GIB:7.2f} {type(error).__name__}: {str(error)[:200]}")
            continue
        rows.append({"case": case._asdict(), "predicted": told._asdict(), "measured": seen._asdict()})
        sizes = f"{seen.allocated / GIB:9.2f} {told.total / seen.allocated:5.3f} {seen.reserved / GIB:8.2f}"
        print(f"{case.name:48} {told.total / GIB:7.2f} {sizes} {seen.held / GIB:6.2f} {seen.seconds:2.0f}", flush=True)
        document = {"card": card, "torch": torch.__version__, "context": context, "rows": rows}
        (given.out / "memory.json").write_text(json.dumps(document, indent=1), "utf-8")


if __name__ == "__main__":
    main()
