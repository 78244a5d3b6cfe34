"""Rules of a test's own, run over real files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from loralint.authoring.conditions import normal
from loralint.engine.lint import Job, lint
from loralint.engine.settings import Settings
from loralint.knowledge.rules import Rule, Wording
from loralint.model import Run
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.source.read import read_file


def own_rule(**given: Any) -> Rule:
    """A rule with the parts that a test is about; `when` and `levels` are authored as in a rule file."""
    levels = given.pop("levels", [{"tier": given.pop("tier", "S")}])
    when = given.pop("when", None)
    parts: dict[str, Any] = {
        "id": "LL990", "name": "own-rule", "topic": "scale", "frameworks": None, "versions": [], "each": None, "at": [],
        "uses": "condition", "args": {}, "preview": False,
    }  # fmt: skip
    tiers = [(normal(level["when"]) if "when" in level else None, level["tier"]) for level in levels]
    says = Wording(
        given.pop("message", "it breaks: {key} is {value}"), given.pop("help", "write {key}: {suggest}"),
        given.pop("fix", None),
    )  # fmt: skip
    gives = [tier for _, tier in tiers]
    return Rule(**{**parts, **given}, tiers=tiers, when=normal(when) if when else None, gives=gives, says=says)


@pytest.fixture(scope="session")
def rule():
    """rule(...) -> a Rule; see own_rule."""
    return own_rule


@pytest.fixture
def linted(tmp_path: Path):
    """linted(text, *rules, ...) -> the Run of a file with that text."""

    def run(text: str | bytes, *rules: Rule, name: str = "config.yaml", **given: Any) -> Run:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        job = Job(
            rules,
            Options(given.get("gpu", ""), given.get("rows"), given.get("targets", {}), given.get("framework", "")),
            given.get("settings", Settings(root=str(tmp_path))),
            given.get("today", "2026-01-15"),
            given.get("baseline"),
            str(tmp_path),
            given.get("inline", True),
            given.get("show_settings", False),
        )
        ((found, _),) = lint(read_file(str(file), given.get("shown", str(file))), job, Project(str(tmp_path)))
        return found

    return run


@pytest.fixture
def counts():
    """counts(("config.yaml", "LL206", "/lora_alpha")) -> what a baseline with these entries holds."""
    return lambda *keys: Counter(keys)
