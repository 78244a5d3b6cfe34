"""A training log judged by the rules on logs, as configs are by theirs."""

from __future__ import annotations

from loralint.engine.judge import judge
from loralint.engine.score import score, verdict
from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.knowledge.rules import Rule
from loralint.model import Run
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_bytes
from loralint.watch.history import History
from loralint.watch.observe import observe

TOPIC = "log"


def judge_log(history: History, rules: tuple[Rule, ...]) -> Run:
    """The run that a log tells of. rules: of which those on logs count."""
    seen = observe(history)
    config = _empty(history.file)
    of_logs = tuple(rule for rule in rules if rule.topic == TOPIC)
    result = judge(of_logs, config, Scope(config, FACTS, seen.observations), fixes=False)
    findings = tuple(sorted(result.findings, key=lambda one: (one.span.line, one.rule)))
    notes = (*seen.notes, *result.notes)
    return Run(
        (history.file,), history.title, score(findings), verdict(findings), findings, notes,
        tables=seen.tables, series=seen.series,
    )  # fmt: skip


def _empty(file: str) -> Config:
    """A run of which only the log is known: its rules speak of what was observed and of no setting."""
    (start,) = starts(read_bytes(b"{}", file, "json"), Options(framework="transformers"), Project())
    return start.config
