"""Are a million rows checked in a minute and in half a gigabyte? Prints a table; exits with 1 when a bar is missed.

The rows are made here, the same on every machine: instructions with answers of some 80 words, as long as those of the
usual public sets, with single faults among them. What counts is the CPU time and the peak memory of the child that
checks them; wall time depends on who else uses the machine.

    python benchmarks/data.py [--rows 1000000] [--keep FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = """base_model: meta-llama/Llama-3.1-8B
adapter: lora
lora_r: 16
lora_alpha: 16
lora_target_linear: true
micro_batch_size: 2
learning_rate: 0.0002
sequence_len: 128
datasets:
  - path: train.jsonl
    type: alpaca
"""
SECONDS, MIB = 60.0, 500.0
_PROGRAM = "from loralint.cli import main; main()"
_SYLLABLES = ("ka", "lo", "mi", "ter", "an", "do", "ri", "ves", "on", "pra", "sul", "tin", "ba", "he", "gor", "ul")


def rows(count: int) -> Iterator[str]:
    """JSON texts of rows: of a thousand one is a copy, one nearly a copy, one without an answer."""
    dice = random.Random(7)
    words = ["".join(dice.choices(_SYLLABLES, k=dice.randint(1, 4))) for _ in range(40_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    pool = dice.choices(words, weights, k=1 << 20)  # words come as often as in natural texts
    before = {"instruction": "", "input": "", "output": ""}
    for number in range(count):
        start, stride = dice.randrange(len(pool) // 2), dice.randrange(1, 3000)
        asked, told = dice.randint(8, 30), dice.randint(20, 140)
        drawn = pool[start : start + (asked + told) * stride : stride]
        row = {
            "instruction": " ".join(drawn[:asked]),
            "input": "",
            "output": " ".join(drawn[asked:]) + f" {number:x}.",
        }
        kind = number % 1000
        if kind == 1:
            row = before
        elif kind == 2:
            row = {**before, "output": before["output"] + " " + words[number % 40_000]}
        elif kind == 3:
            row["output"] = ""
        before = row
        yield json.dumps(row)


def measure(config: str, data: str) -> tuple[float, float, float]:
    """(CPU seconds, wall seconds, peak MiB) of the check. Raises SystemExit when it does not end as it should."""
    command = [sys.executable, "-c", _PROGRAM, "check", config, "--data", data]
    path = os.pathsep.join(filter(None, [os.path.dirname(HERE), os.environ.get("PYTHONPATH", "")]))
    started = time.perf_counter()
    child = os.posix_spawn(command[0], command, {**os.environ, "PYTHONPATH": path})
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit("the check failed")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def main() -> int:
    """Make the rows, check them, compare with the bars."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keep", metavar="FILE", default="", help="where the rows are left, or found")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = given.keep or os.path.join(folder, "train.jsonl")
        if not os.path.exists(data):
            with open(data, "w", encoding="utf-8") as file:
                file.writelines(row + "\n" for row in rows(given.rows))
        config = os.path.join(folder, "config.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG)
        seconds, wall, mib = measure(config, data)
        size = os.path.getsize(data) / 1e6
    print(f"\n{given.rows:,} rows, {size:.0f} MB")
    print(f"CPU seconds {seconds:8.1f}   bar {SECONDS:.0f}")
    print(f"peak MiB    {mib:8.0f}   bar {MIB:.0f}")
    print(f"wall seconds{wall:8.1f}")
    return int(seconds > SECONDS or mib > MIB)


if __name__ == "__main__":
    sys.exit(main())
