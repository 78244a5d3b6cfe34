"""Public bug reports as small runs: the faulty one gets the right finding, its corrected twin does not.

A case has `finds` (rule, tier and key of that finding) or `silent`, why nothing can be told of it. Those named N are
our own, of kinds that reports have shown, in other frameworks, files and spellings. Those named H and J were chosen by
kind, before anything was run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from loralint.api import check

CASES = {
    path.name.split("-")[0]: yaml.safe_load(path.read_text()) for path in Path(__file__).parent.glob("cases/*.yaml")
}
FOUND = sorted(name for name, case in CASES.items() if "finds" in case)
SILENT = sorted(name for name, case in CASES.items() if "silent" in case)


def findings(case, side, folder):
    for item in case[side]:
        path = folder / side / item["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(item["text"])
    target = [case["target"]] if case.get("target") else []
    report = check(folder / side, gpu=case.get("gpu") or "", target=target)
    return [finding for run in report.runs for finding in run.findings]


def blocking(found):
    return [one.rule for one in found if one.tier == "S"]


def test_every_case_has_a_verdict():
    assert sorted(CASES) == sorted([*FOUND, *SILENT])
    assert len(FOUND) > len(SILENT)


@pytest.mark.parametrize("name", FOUND)
def test_the_faulty_run_is_found_and_its_twin_is_not(name, tmp_path):
    case = CASES[name]
    wanted = case["finds"]
    found = [(one.rule, one.tier, one.key) for one in findings(case, "input", tmp_path)]
    assert (wanted["rule"], wanted["tier"], wanted["key"]) in found
    good = findings(case, "good", tmp_path)
    assert (wanted["rule"], wanted["key"]) not in [(one.rule, one.key) for one in good]
    assert not blocking(good)


@pytest.mark.parametrize("name", SILENT)
def test_what_is_not_told_is_not_told_falsely(name, tmp_path):
    assert blocking(findings(CASES[name], "good", tmp_path)) == []
