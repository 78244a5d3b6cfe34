"""Scopes over values given by name, and over the run that a real file starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loralint.canonical.fields import FIELDS
from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.model import Value
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_file


class Given:
    """Settings that hold what a test says and nothing else."""

    def __init__(self, values: dict[str, Value]) -> None:
        self.values = values

    def get(self, field: str) -> Value:
        return self.values.get(field, Value(None, origin="absent", field=field))


@pytest.fixture(scope="session")
def given():
    """given({"optim.lr": 1e-4, "lora.E": Value(...)}) -> a Scope; other names are facts."""

    def build(values: dict[str, Any]) -> Scope:
        made = {name: one if isinstance(one, Value) else Value(one, field=name) for name, one in values.items()}
        scope = Scope(Given({name: one for name, one in made.items() if name in FIELDS}), FACTS)
        for name, one in made.items():
            if name not in FIELDS:
                scope.bind(name, one)
        return scope

    return build


@pytest.fixture
def run_of(tmp_path: Path):
    """run_of(text, framework) -> the Scope of the run that a file with this text starts."""

    def build(text: str, framework: str = "", **options: Any) -> Scope:
        file = tmp_path / ("config.json" if text.lstrip().startswith("{") else "config.yaml")
        file.write_text(text, encoding="utf-8")
        assembled = assemble(read_file(str(file), file.name), Options(framework=framework, **options))
        assert assembled is not None
        return Scope(assembled.config, FACTS, assembled.observations)

    return build
