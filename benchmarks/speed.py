"""Is loralint as fast and as small as it promises? Prints a table; exits with 1 when a bar is missed.

Every figure compares runs that were made in turn (A B A B), by the CPU time of the child alone, so that what else the
machine does weighs on both; the median of the ratios counts. All programs run from byte code, in the same interpreter.

    python benchmarks/speed.py [--rounds 15] [--many-rounds 1] [--instructions]

This process stays small on purpose: the kernel counts the parent's memory into a child's peak until it execs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
ONE = os.path.join(HERE, "lora.yaml")
SCHEMA = os.path.join(HERE, "schema.json")
MODEL = {  # sizes of a model that is in no list, so that its modules follow from the catalogue of architectures
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 1536, "intermediate_size": 4096,
    "num_hidden_layers": 24, "num_attention_heads": 12, "num_key_value_heads": 4, "torch_dtype": "bfloat16",
}  # fmt: skip
FILES = 1_000
COUNTED = 11  # files in a count of instructions, which takes fifty times as long
PROGRAMS = {  # what each one's own script runs
    "loralint": ("from loralint.__main__ import run; run()", "check"),
    "yamllint": ("from yamllint.cli import run; run()",),
    "check-jsonschema": ("from check_jsonschema import main; main()", "--schemafile", SCHEMA),
}
# What the project promises: ratios of CPU time, and MiB.
ONE_TO_YAMLLINT, ONE_TO_JSONSCHEMA, MANY_TO_YAMLLINT, MODEL_TO_YAMLLINT = 1.0, 0.35, 0.25, 1.2
ONE_MIB, MANY_MIB = 25.0, 60.0


class Cost(NamedTuple):
    """CPU seconds, user and system, and peak MiB of one child."""

    seconds: float
    mib: float


class Row(NamedTuple):
    """One line of the table; `bar` is the most that the figure may be."""

    what: str
    figure: float
    bar: float
    detail: str

    @property
    def met(self) -> bool:
        return self.figure <= self.bar


def environment() -> dict[str, str]:
    """Byte code may be written and read, hashing is the same in every run, no setting of the caller's interferes."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "FORCE_COLOR")}
    path = os.pathsep.join(filter(None, [os.path.dirname(HERE), kept.get("PYTHONPATH", "")]))
    return {**kept, "PYTHONHASHSEED": "0", "PYTHONPATH": path}


def run(program: str, path: str, *before: str) -> Cost:
    """Run a program over a path. Raises SystemExit when it fails for a reason that makes the figure worthless."""
    code, *arguments = PROGRAMS[program]
    command = [*before, sys.executable, "-c", code, *arguments, path]
    with open(os.devnull, "wb") as sink:
        actions = [(os.POSIX_SPAWN_DUP2, sink.fileno(), 1), (os.POSIX_SPAWN_DUP2, sink.fileno(), 2)]
        child = os.posix_spawn(command[0], command, environment(), file_actions=actions)
        _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{program} failed on {path}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def paired(programs: tuple[str, ...], path: str, rounds: int) -> dict[str, list[Cost]]:
    """Run the programs in turn, `rounds` times, after one round that only warms the caches."""
    costs: dict[str, list[Cost]] = {program: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            costs[program].append(run(program, path))
    return costs


def median(values: list[float]) -> float:
    """Of an even number the lower of the two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]


def ratio(costs: dict[str, list[Cost]], other: str, what: str, bar: float) -> Row:
    """loralint's CPU time over that of another program, pair by pair."""
    pairs = list(zip(costs["loralint"], costs[other], strict=True))
    ours, theirs = (median([cost.seconds for cost in costs[name]]) for name in ("loralint", other))
    detail = f"{ours * 1e3:,.0f} ms to {theirs * 1e3:,.0f} ms, {len(pairs)} pairs"
    return Row(f"{what}, CPU time / {other}", median([mine.seconds / its.seconds for mine, its in pairs]), bar, detail)


def peak(costs: dict[str, list[Cost]], what: str, bar: float) -> Row:
    """loralint's worst peak of memory."""
    return Row(f"{what}, peak MiB", max(cost.mib for cost in costs["loralint"]), bar, "resident, worst run")


def many(folder: str, files: int = FILES) -> None:
    """Configs that differ in one value and lie in a few folders."""
    with open(ONE, encoding="utf-8") as file:
        text = file.read()
    for number in range(files):
        inner = os.path.join(folder, f"set{number // 100}")
        os.makedirs(inner, exist_ok=True)
        with open(os.path.join(inner, f"run{number:03}.yaml"), "w", encoding="utf-8") as file:
            file.write(text.replace("seed: 42", f"seed: {number}"))


def with_model(folder: str, base: str) -> str:
    """The config with another base model, whose targets are looked for among its modules; `./model` is a folder."""
    with open(ONE, encoding="utf-8") as file:
        text = file.read()
    targets = "lora_target_modules: [q_proj, k_proj, v_proj, o_proj, up_proj, down_proj]"
    os.makedirs(os.path.join(folder, "model"), exist_ok=True)
    with open(os.path.join(folder, "model", "config.json"), "w", encoding="utf-8") as file:
        json.dump(MODEL, file)
    path = os.path.join(folder, f"{base.rpartition('/')[2]}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        text = text.replace("base_model: meta-llama/Llama-3.1-8B", f"base_model: {base}")
        file.write(text.replace("lora_target_linear: true", targets))
    return path


def instructions() -> None:
    """A figure that does not depend on the machine's load: instructions executed, by valgrind where it is installed."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print("instructions: valgrind is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        many(folder, COUNTED)
        for program in ("loralint", "yamllint"):
            one, lots = (counted(valgrind, program, path) for path in (ONE, folder))
            each = (lots - one) / (COUNTED - 1)
            print(
                f"instructions, {program:9} {one / 1e6:6.0f} M for one file, {each / 1e6:5.1f} M for each further one"
            )


def counted(valgrind: str, program: str, path: str) -> int:
    """Instructions that a run executes."""
    with tempfile.NamedTemporaryFile("r") as log:
        run(program, path, valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
            f"--log-file={log.name}")  # fmt: skip
        count = next(line.partition("refs:")[2] for line in log if "refs:" in line)
    return int(count.replace(",", ""))


def rows(rounds: int, many_rounds: int) -> list[Row]:
    """All figures with their bars."""
    for program in PROGRAMS:
        run(program, ONE)  # writes the byte code
    one = paired(tuple(PROGRAMS), ONE, rounds)
    with tempfile.TemporaryDirectory() as folder:
        many(folder)
        lots = paired(("loralint", "yamllint"), folder, many_rounds)
    with tempfile.TemporaryDirectory() as folder:
        both = ("loralint", "yamllint")
        named = paired(both, with_model(folder, "tencent/Hunyuan-7B-Instruct"), rounds)
        local = paired(both, with_model(folder, "./model"), rounds)
    return [
        ratio(one, "yamllint", "one file", ONE_TO_YAMLLINT),
        ratio(one, "check-jsonschema", "one file", ONE_TO_JSONSCHEMA),
        ratio(named, "yamllint", "a model that is known by name", MODEL_TO_YAMLLINT),
        ratio(local, "yamllint", "a model with a config.json", MODEL_TO_YAMLLINT),
        ratio(lots, "yamllint", f"{FILES:,} files", MANY_TO_YAMLLINT),
        peak(one, "one file", ONE_MIB),
        peak(lots, f"{FILES:,} files", MANY_MIB),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="pairs for one file (15)")
    parser.add_argument("--many-rounds", type=int, default=1, help=f"pairs for {FILES:,} files (1; a minute each)")
    parser.add_argument("--instructions", action="store_true", help="count instructions too, with valgrind")
    given = parser.parse_args()
    table = rows(given.rounds, given.many_rounds)
    print(f"{'figure':44} {'value':>7} {'bar':>6}")
    for row in table:
        print(f"{row.what:44} {row.figure:7.2f} {row.bar:6.2f}  {'ok' if row.met else 'MISSED'}  {row.detail}")
    if given.instructions:
        instructions()
    return 0 if all(row.met for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
