"""Of how many configs is the base model known? Says which names are not, the frequent ones first.

    python benchmarks/models.py FOLDER [--show 40]

A run counts where its file names a base model, as an id or a path; what is filled in only when the run starts names
none. Resolved is one whose architecture is known: from the id, from a config.json beside it, or because the trainer or
the name says which diffusion model it is. Exits with 1 below 90 in 100.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.discover import discover
from loralint.source.read import read_file

BAR = 0.9


class Named(NamedTuple):
    """A base model as a run names it. sized: its width is known too, which says nothing of a diffusion model."""

    base: str
    resolved: bool
    sized: bool
    diffusion: bool


def named(folder: str) -> Iterator[Named]:
    """The base models that the runs below a folder name, one for each run."""
    project = Project(folder)
    for one in discover([folder]):
        if one.skipped:
            continue
        for run in starts(read_file(one.path, one.shown), Options(), project):
            scope = Scope(run.config, FACTS, run.observations, run.events)
            base = scope.get("model.base").value
            if isinstance(base, str) and base:
                family, width = scope.get("model.family"), scope.get("model.hidden")
                diffusion = scope.get("train.task").value == "diffusion"
                yield Named(base, family.known, width.known, diffusion)


def report(found: Iterable[Named], shown: int) -> tuple[list[str], bool]:
    """Lines to print, and whether the bar is met."""
    found = list(found)
    resolved = sum(one.resolved for one in found)
    share = resolved / len(found) if found else 0.0
    language = [one for one in found if not one.diffusion]
    lines = [
        f"{len(found)} runs name a base model; its architecture is known of {resolved}: {share:.1%} (bar {BAR:.0%})",
        f"of {len(language)} language models the width is known of {sum(one.sized for one in language)}",
    ]
    rest = Counter(one.base for one in found if not one.resolved)
    lines += [f"{count:5} {base}" for base, count in rest.most_common(shown)]
    return lines, share >= BAR


def main() -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--show", type=int, default=40, help="names that are listed (40)")
    given = parser.parse_args()
    lines, met = report(named(given.folder), given.show)
    print("\n".join(lines))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
