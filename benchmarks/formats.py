"""What a format for machines costs over the one for people. Prints a table; exits with 1 when a bar is missed.

Measured as in speed.py: processes in turn, their own CPU time, the median of the ratios.

    python benchmarks/formats.py [--rounds 15] [--many-rounds 3] [--files 200]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

import speed

BAR = 1.1
FORMATS = ("sarif", "junit", "github", "gitlab", "markdown")
FAULTY = {  # gives seven findings: values that stop the run, a misspelt key, a key twice, a card without bf16 ...
    "lora_r: 32": "lora_r: 0",
    "lora_alpha: 32": "lora_aplha: 32",
    "seed: 42": "seed: 42\nsaves_per_epoch: 1\nlearning_rate: 0.02",
}


def mixed(folder: str, files: int, every: int) -> None:
    """Configs, each so many of them with findings."""
    with open(speed.ONE, encoding="utf-8") as file:
        clean = faulty = file.read()
    for old, new in FAULTY.items():
        faulty = faulty.replace(old, new)
    for number in range(files):
        with open(os.path.join(folder, f"run{number:04}.yaml"), "w", encoding="utf-8") as file:
            file.write(f"# {number}\n{clean if number % every else faulty}")


def row(path: str, what: str, name: str, rounds: int) -> speed.Row:
    """One format over the full text."""
    costs = speed.paired((name, "full"), path, rounds)
    ours, text = ([cost.seconds for cost in costs[one]] for one in (name, "full"))
    detail = f"{speed.median(ours) * 1e3:,.0f} ms to {speed.median(text) * 1e3:,.0f} ms, {rounds} pairs"
    ratios = [mine / its for mine, its in zip(ours, text, strict=True)]
    return speed.Row(f"{name}, {what}, CPU time / full", speed.median(ratios), BAR, detail)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="pairs for one file (15)")
    parser.add_argument("--many-rounds", type=int, default=3, help="pairs for a folder (3)")
    parser.add_argument("--files", type=int, default=200, help="files of the folder (200)")
    parser.add_argument("--every", type=int, default=10, help="each so many of them with findings (10)")
    parser.add_argument("--formats", default="sarif", help="with commas: " + ", ".join(FORMATS))
    given = parser.parse_args()
    code = speed.PROGRAMS["loralint"][0]
    names = given.formats.split(",")
    speed.PROGRAMS.update({name: (code, "check", "--gpu", "T4", "--format", name) for name in ("full", *names)})
    met = True
    print(f"{'figure':62} {'value':>7} {'bar':>6}")
    with tempfile.TemporaryDirectory() as folder:
        mixed(folder, given.files, given.every)
        one = os.path.join(folder, "run0000.yaml")
        cases = (
            (speed.ONE, "one clean file", given.rounds),
            (one, "one file with findings", given.rounds),
            (folder, f"{given.files:,} files, every {given.every}th with findings", given.many_rounds),
        )
        for name in names:
            for path, what, rounds in cases:
                speed.run(name, path)  # writes the byte code
                found = row(path, what, name, rounds)
                met = met and found.met
                verdict = "ok" if found.met else "MISSED"
                print(f"{found.what:62} {found.figure:7.2f} {found.bar:6.2f}  {verdict}  {found.detail}", flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
