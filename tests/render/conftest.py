"""Reports over real files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import loralint
from loralint.model import Report


@pytest.fixture
def report_on(tmp_path: Path, monkeypatch):
    """report_on(text, ...) -> the Report on a file of that text, named as the user would from its folder."""
    monkeypatch.chdir(tmp_path)

    def build(text: str, name: str = "config.yaml", **given: Any) -> Report:
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        Path(name).write_bytes(text.encode())
        return loralint.check(name, **given)

    return build
