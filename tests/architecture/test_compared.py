"""The comparison names tests that exist, and has every row of its table filled."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compared.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 30
    missing = [
        (path, name)
        for path, name in named
        if not (ROOT / path).is_file() or (name and f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8"))
    ]
    assert missing == []


def test_every_cell_says_something():
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("|")]
    table = [row for row in rows if len(row) == 9][2:]
    assert len(table) > 25
    assert {cell.strip() for row in table for cell in row[1:]} <= {"Y", "N", "P", "?", "-"}
