"""Is a folder of configs, scripts, notebooks, launch lines and manifests linted as fast as promised?

Makes a hundred folders of ten files from those in `mixed/`, and takes CPU times as `speed.py` does. What a script costs
is the difference between the folders with their scripts and without them. Exits with 1 when a bar is missed.

    python benchmarks/mixed.py [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

from speed import ONE, Row, median, paired, ratio, run

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mixed")
FOLDERS = 100
YAML_TO_YAMLLINT, SCRIPT_MS = 0.5, 5.0
CONFIGS = ("a.yaml", "b.yaml", "c.yaml", "d.yaml")
# Name in each folder -> sample. `run.sh` launches `train.py`, which so becomes part of its run.
FILES = {
    **dict.fromkeys(CONFIGS, ONE),
    "accelerate.yaml": "accelerate.yaml",
    "job.yaml": "job.yaml",
    "train.py": "train.py.txt",
    "preference.py": "dpo.py.txt",
    "run.sh": "run.sh",
    "qlora.ipynb": "qlora.ipynb",
}


def make(folder: str, *endings: str) -> int:
    """Write every file with one of the endings into each folder, the seed or a comment different; give their number."""
    names = [name for name in FILES if name.endswith(endings)]
    for number in range(FOLDERS):
        inner = os.path.join(folder, f"set{number:03}")
        os.makedirs(inner)
        for name in names:
            with open(os.path.join(SAMPLES, FILES[name]), encoding="utf-8") as file:
                text = file.read().replace("seed: 42", f"seed: {number}").replace("NUMBER", str(number))
            with open(os.path.join(inner, name), "w", encoding="utf-8") as file:
                file.write(text)
    return len(names) * FOLDERS


def rows(rounds: int) -> list[Row]:
    """All figures with their bars."""
    with tempfile.TemporaryDirectory() as top:
        every, rest, yaml = (os.path.join(top, name) for name in ("all", "rest", "yaml"))
        scripts = -make(rest, ".yaml", ".sh", ".ipynb") + make(every, ".yaml", ".sh", ".ipynb", ".py")
        make(yaml, ".yaml")
        run("loralint", every)  # writes the byte code
        whole = [run("loralint", every).seconds - run("loralint", rest).seconds for _ in range(rounds)]
        each = median(whole) / scripts * 1e3
        return [
            ratio(paired(("loralint", "yamllint"), yaml, 1), "yamllint", "YAML files and manifests", YAML_TO_YAMLLINT),
            Row("one Python script, CPU ms", each, SCRIPT_MS, f"{scripts} scripts, {rounds} pairs"),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="pairs for the scripts (3)")
    table = rows(parser.parse_args().rounds)
    for row in table:
        print(f"{row.what:44} {row.figure:7.2f} {row.bar:6.2f}  {'ok' if row.met else 'MISSED'}  {row.detail}")
    return 0 if all(row.met for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
