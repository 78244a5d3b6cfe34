"""Every example of every rule: what is bad gives the finding at its place, what is good gives none, fixes fix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import loralint
from loralint.authoring.compile import read_rules
from loralint.authoring.rule import Example, RuleFile
from loralint.engine.settings import Settings
from loralint.probe.request import Request
from loralint.source.edit import apply

RULES = [rule for _, rule in read_rules(Path(__file__).parents[2] / "rules")]


def _examples(kind: str):
    for rule in RULES:
        for number, example in enumerate(rule.examples, 1):
            if getattr(example, kind) is not None:
                yield pytest.param(rule, example, id=f"{rule.id}-{number}")


_PROGRAMS = {"shell": "run.sh", "python": "train.py"}  # they say themselves whose they are
UNFILLED = re.compile(r"(?<!\$)\{[a-z_]+(?::[^{}']*)?\}")  # a placeholder; a dictionary of Python's is none
_IN_TOML = ("sd-scripts", "musubi-tuner", "diffusion-pipe")


def _name(framework: str, text: str) -> str:
    if framework in _PROGRAMS:
        return _PROGRAMS[framework]
    if framework == "peft":
        return "adapter_config.json"
    return "config.toml" if framework in _IN_TOML else "config.json" if text.lstrip()[:1] == "{" else "config.yaml"


def _check(text: str, framework: str, example: Example, folder: Path):
    """The run that the text makes; examples of rules in preview count as well."""
    file = folder / _name(framework, text)
    given = example.options
    file.write_bytes(text.encode() + b" " * given.padding)
    if given.needs:
        pytest.importorskip(given.needs)
    if given.log:
        from loralint.api import watch

        return watch(file).runs[0], text
    for beside, lines in {**given.data, **given.eval_data, **given.companions}.items():
        (folder / beside).write_text(lines, "utf-8")
    report = loralint.check(
        file,
        data=[folder / one for one in given.data],
        eval_data=[folder / one for one in given.eval_data],
        companions=[folder / one for one in given.companions],
        env=given.env,
        gpu=given.gpu or "",
        target=[f"{package}={version}" for package, version in given.target.items()],
        framework="" if framework in _PROGRAMS else framework,
        rows=given.rows,
        settings=Settings(preview=True),
        probe=Request() if given.probe else None,
    )
    assert len(report.runs) == 1
    return report.runs[0], report.texts.get(report.runs[0].files[0], text)


@pytest.mark.parametrize(("rule", "example"), list(_examples("bad")))
def test_bad_example(rule: RuleFile, example: Example, tmp_path):
    assert example.bad is not None
    assert example.finds is not None
    finds = example.finds
    (framework, text), = example.bad.items()  # fmt: skip
    run, decoded = _check(text, framework, example, tmp_path)
    found = [(one.tier, one.key, one.span.line) for one in run.findings if one.rule == rule.id]
    if finds.tier == "note" or (rule.tier == "note" and finds.tier is None):
        assert finds.key in [note.key for note in run.notes if rule.id in note.rules and note.kind == "info"]
        return
    matching = [
        one
        for one in run.findings
        if one.rule == rule.id
        and (one.key, one.span.line) == (finds.key, finds.line)
        and finds.tier in (None, one.tier)
    ]
    assert matching, f"wanted {finds.tier} {finds.key} in line {finds.line}, got {found} and notes {run.notes}"
    finding = matching[0]
    assert rule.uses == "golden" or rule.levels or finding.tier in (rule.tier, "A")
    assert not UNFILLED.search(finding.message)
    assert not UNFILLED.search(finding.help)
    if finds.fixed is None:
        return
    assert finding.fix is not None, "the finding has no fix"
    fixed = apply(decoded, finding.fix.edits)
    assert finds.fixed in [line.strip() for line in fixed.splitlines()] or finds.fixed in fixed.splitlines()
    again, _ = _check(fixed, framework, example, tmp_path)
    assert [(one.key, one.message) for one in again.findings if one.rule == rule.id] == []


@pytest.mark.parametrize(("rule", "example"), list(_examples("good")))
def test_good_example(rule: RuleFile, example: Example, tmp_path):
    assert example.good is not None
    (framework, text), = example.good.items()  # fmt: skip
    run, _ = _check(text, framework, example, tmp_path)
    assert [(one.key, one.span.line, one.message) for one in run.findings if one.rule == rule.id] == []
    assert [note.message for note in run.notes if rule.id in note.rules and note.kind == "info"] == []


def test_there_are_rules():
    assert len(RULES) > 10
    assert [rule.id for rule in RULES] == [rule.id for rule in loralint.engine.rules.all_rules()]
