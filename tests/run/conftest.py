"""Runs that real files start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loralint.run.assemble import Assembled, assemble
from loralint.run.options import Options
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
