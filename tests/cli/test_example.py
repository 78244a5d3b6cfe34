"""The config that the README's first command lints: what its first line promises is what is found, and no more."""

from __future__ import annotations

from pathlib import Path

from loralint.api import check

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/llama3-qlora.yaml"


def test_the_example_has_the_four_faults_that_it_speaks_of():
    [run] = check(EXAMPLE, gpu="T4", rows=2000).runs
    assert "four faults" in EXAMPLE.read_text(encoding="utf-8").splitlines()[0]
    assert sorted(one.rule for one in run.findings) == ["LL101", "LL214", "LL216", "LL421"]


def test_the_readme_shows_a_finding_as_it_is():
    [shown] = [one for one in check(EXAMPLE, gpu="T4", rows=2000).runs[0].findings if one.rule == "LL214"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"config.yaml:{shown.span.line}:{shown.span.column}\n" in readme
    assert f"  help:  {shown.help}\n" in readme
