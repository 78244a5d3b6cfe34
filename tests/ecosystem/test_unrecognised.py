"""Every file of the corpus is recognised as a run or listed as what it is, in docs/ecosystem-unrecognised.tsv.

The list was made by reading each file. A failure names the rows that are missing or no longer true; what a new file is
has to be read again. Skipped where the corpus is not at hand.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from loralint.api import check
from loralint.frameworks.detect import COMPANIONS

DOCS = Path(__file__).parents[2] / "docs"


def _rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


LISTED = {(row["repository"], row["path"]): row["kind"] for row in _rows(DOCS / "ecosystem-unrecognised.tsv")}


@pytest.fixture(scope="module")
def corpus(shared):
    """(repository, path) -> the framework of each of its versions, empty for none."""
    rows = _rows(shared / "corpus" / "INDEX.tsv")
    paths = {str(shared / "corpus" / row["file"]): (row["repo"], row["path"]) for row in rows}
    seen = {file: run.framework for run in check(list(paths)).runs if run.framework for file in run.files}
    found: dict[tuple[str, str], list[str]] = {}
    for path, key in paths.items():
        found.setdefault(key, []).append(seen.get(path, ""))
    return found


def test_each_file_is_recognised_or_listed(corpus):
    missing = sorted(key for key, seen in corpus.items() if not all(seen) and key not in LISTED)
    assert missing == []


def test_the_list_holds_nothing_that_is_recognised(corpus):
    assert sorted(key for key in LISTED if all(corpus.get(key, ["gone"]))) == []


def test_nearly_every_run_is_recognised(corpus):
    files = [(key, framework) for key, several in corpus.items() for framework in several]
    missed = [key for key, framework in files if not framework and LISTED.get(key) == "run"]
    recognised = sum(framework not in ("", *COMPANIONS) for _, framework in files)
    assert recognised > 1000
    assert recognised >= 0.97 * (recognised + len(missed)), missed


def test_each_kind_is_explained():
    page = (DOCS / "ecosystem.md").read_text(encoding="utf-8")
    assert sorted(kind for kind in set(LISTED.values()) if f"| `{kind}` |" not in page) == []
