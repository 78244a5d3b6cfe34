"""Runs that real files start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loralint.run.assemble import Assembled, assemble
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file


@pytest.fixture
def assembled(tmp_path: Path):
    """assembled(text, ...) -> the Assembled run of a file with that text, or None."""

    def build(text: str | bytes, name: str = "config.yaml", **options: Any) -> Assembled | None:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return assemble(read_file(str(file), str(file)), Options(**options))

    return build


@pytest.fixture
def run(tmp_path: Path):
    """run(files, of) -> the only run that one of these files starts, or None; `run.around` is its Project."""

    def build(files, of="train.py"):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        build.around = Project(str(tmp_path))
        build.root = str(tmp_path)
        found = starts(read_file(str(tmp_path / of), str(tmp_path / of)), Options(), build.around)
        assert len(found) <= 1
        return found[0] if found else None

    return build
