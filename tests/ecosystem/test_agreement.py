"""Real configs against their frameworks' own validators; skipped where the corpus is not at hand.

The bars are those that docs/ecosystem.md states. Accepted by the owner is not the same as right, and rejected is not
always the config's fault, so each finding at tier S on an accepted file is listed there with its proof.
"""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from loralint.api import check

FRAMEWORKS = ("axolotl", "llamafactory", "trl", "alignment-handbook", "transformers", "peft", "torchtune")
SUFFIXES = (".yaml", ".yml", ".json")


@pytest.fixture(scope="module")
def judged(shared):
    """File -> (row of the index, run or None)."""
    with open(shared / "corpus" / "INDEX.tsv", encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["framework"] in FRAMEWORKS and row["file"].endswith(SUFFIXES)
        ]
    paths = {str(shared / "corpus" / row["file"]): row for row in rows}
    runs = {run.files[0]: run for run in check(list(paths)).runs}
    return {row["file"]: (row, runs.get(path)) for path, row in paths.items()}


@pytest.fixture(scope="module")
def verdicts(shared):
    """File -> the owner's verdict."""
    found = {}
    for table in sorted((shared / "oracles" / "verdicts").glob("*.tsv")):
        with open(table, encoding="utf-8", newline="") as file:
            found |= {f"llm/{row['file']}": row for row in csv.DictReader(file, delimiter="\t")}
    return found


def test_nearly_every_file_is_recognised(judged):
    missed = [file for file, (_, run) in judged.items() if run is None or not run.framework]
    assert len(missed) <= 0.02 * len(judged), missed


def test_accepted_files_are_left_in_peace(judged, verdicts):
    accepted = [run for file, (_, run) in judged.items() if run and verdicts.get(file, {}).get("result") == "ok"]
    tally = Counter(run.verdict for run in accepted)
    blocked = [(run.files[0], one.rule) for run in accepted for one in run.findings if one.tier == "S"]
    assert len(accepted) > 300
    assert tally["block"] <= 0.01 * len(accepted), blocked
    assert tally["review"] <= 0.10 * len(accepted)
    assert tally["pass"] >= 0.85 * len(accepted)


def test_rejected_files_are_not_passed_in_silence(judged, verdicts):
    rejected = [
        (file, run)
        for file, (_, run) in judged.items()
        if file in verdicts and verdicts[file]["result"] != "ok" and not verdicts[file]["aside"]
    ]
    silent = [file for file, run in rejected if run is None or not run.findings]
    assert len(rejected) > 50
    assert len(silent) <= 0.05 * len(rejected), silent
