"""What changes for real configs between two versions of loralint? New and lost findings, by rule.

    python benchmarks/ecosystem.py FOLDER --old "old-venv/bin/loralint" --new "new-venv/bin/loralint" [-- CHECK OPTIONS]

Run it over a folder of configs that train well before a release: each new finding at tier S or A is a false alarm until
somebody has read it. Exits with 1 when there is one of these, 0 otherwise. Findings are compared by file, rule, key and
tier, so that a moved line or a reworded message is no change.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Said(NamedTuple):
    """One finding, as far as it is compared."""

    rule: str
    name: str
    tier: str
    file: str
    key: str


def findings(command: str, folder: str, options: list[str]) -> tuple[frozenset[Said], frozenset[str]]:
    """What a version says of a folder, and the files that it takes for runs. Raises SystemExit when it cannot tell."""
    whole = [*shlex.split(command), "check", folder, "--format", "json", *options]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    try:
        runs = json.loads(done.stdout)["runs"]
    except (json.JSONDecodeError, KeyError):
        raise SystemExit(f"{command}: no report ({(done.stderr or done.stdout).strip()[-300:]})") from None
    said = frozenset(
        Said(one["rule"], one["name"], one["tier"], one["file"], one["key"])
        for run in runs
        for one in run["findings"]
        if not one["suppressed"]
    )
    return said, frozenset(file for run in runs if run["framework"] for file in run["files"])


def report(old: frozenset[Said], new: frozenset[Said], shown: int) -> Iterator[str]:
    """Rules with changes, most serious first, each with some of its files."""
    for title, changed in (("new", new - old), ("lost", old - new)):
        yield f"## {title}: {len(changed)} findings"
        for (tier, rule, name), several in _by_rule(changed):
            yield f"{tier} {rule} {name}: {len(several)}"
            yield from (f"    {one.file}  {one.key}" for one in several[:shown])
            if len(several) > shown:
                yield f"    and {len(several) - shown} more"


def _by_rule(changed: Iterable[Said]) -> list[tuple[tuple[str, str, str], list[Said]]]:
    groups: dict[tuple[str, str, str], list[Said]] = defaultdict(list)
    for one in sorted(changed, key=lambda one: (one.file, one.key)):
        groups[one.tier, one.rule, one.name].append(one)
    return sorted(groups.items(), key=lambda item: ("SAB".index(item[0][0]), -len(item[1]), item[0][1]))


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """This script's own words, and those of `check` behind the first `--`."""
    cut = words.index("--") if "--" in words else len(words)
    return words[:cut], words[cut + 1 :]


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        usage="%(prog)s FOLDER --old COMMAND [--new COMMAND] [--show N] [-- CHECK OPTIONS]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder")
    parser.add_argument("--old", required=True, help="command of the version in use")
    parser.add_argument("--new", default="loralint", help="command of the version to come")
    parser.add_argument("--show", type=int, default=5, help="files named for each rule")
    own, options = _split(sys.argv[1:])
    given = parser.parse_args(own)
    before, runs_before = findings(given.old, given.folder, options)
    after, runs_after = findings(given.new, given.folder, options)
    print(f"runs: {len(runs_before)} before, {len(runs_after)} after")
    moved = {"no longer recognised": runs_before - runs_after, "newly recognised": runs_after - runs_before}
    for title, files in moved.items():
        if files:
            print(f"{title}: {len(files)}", *sorted(files)[: given.show], sep="\n    ")
    print(*report(before, after, given.show), sep="\n")
    return 1 if any(one.tier in "SA" for one in after - before) else 0


if __name__ == "__main__":
    sys.exit(main())
