"""The examples of a rule, run: what is bad gives the finding at its place, what is good gives none, a fix mends."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from loralint.api import check, watch
from loralint.authoring.rule import Example, RuleFile
from loralint.engine.settings import Settings
from loralint.model import Finding, Run
from loralint.render.rule_page import PROGRAMS
from loralint.source.edit import apply

if TYPE_CHECKING:
    from loralint.probe.request import Request

_NAMES = {"shell": "run.sh", "python": "train.py", "peft": "adapter_config.json"}
_IN_TOML = frozenset({"sd-scripts", "musubi-tuner", "diffusion-pipe"})
UNFILLED = re.compile(r"(?<!\$)\{[a-z_]+(?::[^{}']*)?\}")  # a placeholder; a dictionary of Python's is none


class Subject(NamedTuple):
    """What an example says of its rule besides itself. graded: its tiers are in levels or on the golden list."""

    id: str
    tier: str | None
    graded: bool


def subject(rule: RuleFile) -> Subject:
    """The rule of a file."""
    return Subject(rule.id, rule.tier, rule.uses == "golden" or bool(rule.levels))


class Unrunnable(Exception):  # noqa: N818 - the example is not at fault
    """Why an example cannot be run here."""


def faults(rule: Subject, example: Example, folder: str, settings: Settings) -> Iterator[str]:
    """What is wrong with an example. folder: an empty one to write in. Raises Unrunnable where an extra is missing."""
    ((framework, text),) = (example.bad or example.good or {}).items()
    runs, decoded = _runs(text, framework, example, folder, settings)
    if len(runs) != example.options.runs:
        yield f"the text is {len(runs)} runs, not {example.options.runs}; is it recognised as {framework}?"
        return
    if example.bad is None:
        yield from (f"found where nothing should be: {_told(one)}" for one in _of(rule, runs))
        yield from (f"noted where nothing should be: {one}" for one in _noted(rule, runs).values())
        return
    yield from _of_bad(rule, example, runs, decoded, folder, settings)


def _of_bad(
    rule: Subject, example: Example, runs: Sequence[Run], text: str, folder: str, settings: Settings
) -> Iterator[str]:
    finds = example.finds
    assert finds is not None
    if finds.tier == "note" or (rule.tier == "note" and finds.tier is None):
        if finds.key not in _noted(rule, runs):
            yield f"no note on {finds.key}; noted are {sorted(_noted(rule, runs)) or 'none'}"
        return
    found = [one for one in _of(rule, runs) if (one.key, one.span.line) == (finds.key, finds.line)]
    found = [one for one in found if finds.tier in (None, one.tier)]
    if not found:
        got = "; ".join(map(_told, _of(rule, runs))) or "nothing"
        notes = "".join(f"; {note.message}" for run in runs for note in run.notes if rule.id in note.rules)
        yield f"wanted {f'{finds.tier} ' if finds.tier else ''}{finds.key} in line {finds.line}, found {got}{notes}"
        return
    if not rule.graded and found[0].tier not in (rule.tier, "A"):
        yield f"tier {found[0].tier}, although the rule says {rule.tier}"
    for said in (found[0].message, found[0].help):
        if UNFILLED.search(said):
            yield f"a placeholder that nothing fills: {said}"
    if finds.fixed is not None:
        yield from _of_fix(rule, example, found[0], text, folder, settings)


def _of_fix(
    rule: Subject, example: Example, finding: Finding, text: str, folder: str, settings: Settings
) -> Iterator[str]:
    assert example.bad is not None
    assert example.finds is not None
    if finding.fix is None:
        yield "the finding has no fix, and `fixed` wants one"
        return
    fixed = apply(text, finding.fix.edits)
    lines = fixed.splitlines()
    if example.finds.fixed not in {*lines, *(line.strip() for line in lines)}:
        yield f"no line is {example.finds.fixed!r} after the fix: {fixed!r}"
    runs, _ = _runs(fixed, next(iter(example.bad)), example, folder, settings)
    yield from (f"still found after the fix: {_told(one)}" for one in _of(rule, runs))


def _runs(text: str, framework: str, example: Example, folder: str, settings: Settings) -> tuple[tuple[Run, ...], str]:
    """The runs that the text makes, and the text as it is decoded."""
    given = example.options
    if given.needs and not _installed(given.needs):
        raise Unrunnable(f"{given.needs} is not installed")
    file = os.path.join(folder, file_name(framework, text))
    _write(file, text + " " * given.padding)
    if given.log:
        return watch(file).runs, text
    for beside, lines in {**given.data, **given.eval_data, **given.companions}.items():
        _write(os.path.join(folder, os.path.basename(beside)), lines)
    for path, lines in given.files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        _write(os.path.join(folder, path), lines)
    report = check(
        file,
        data=[os.path.join(folder, one) for one in given.data],
        eval_data=[os.path.join(folder, one) for one in given.eval_data],
        companions=[os.path.join(folder, one) for one in given.companions],
        env=given.env,
        gpu=given.gpu or "",
        target=[f"{package}={version}" for package, version in given.target.items()],
        framework="" if framework in PROGRAMS else framework,
        rows=given.rows,
        settings=settings._replace(preview=True),
        probe=_request() if given.probe else None,
    )
    name = report.runs[0].files[0] if report.runs else file
    return report.runs, report.texts.get(name, text)


def _request() -> Request:
    from loralint.probe.request import Request

    return Request()


def file_name(framework: str, text: str) -> str:
    """What a file of a framework is usually called."""
    if framework in _NAMES:
        return _NAMES[framework]
    return "config.toml" if framework in _IN_TOML else "config.json" if text.lstrip()[:1] == "{" else "config.yaml"


def _installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _of(rule: Subject, runs: Sequence[Run]) -> list[Finding]:
    return [one for run in runs for one in run.findings if one.rule == rule.id]


def _noted(rule: Subject, runs: Sequence[Run]) -> dict[str, str]:
    told = (note for run in runs for note in run.notes if rule.id in note.rules and note.kind == "info")
    return {note.key: note.message for note in told}


def _told(finding: Finding) -> str:
    return f"{finding.tier} {finding.key} in line {finding.span.line}: {finding.message}"
