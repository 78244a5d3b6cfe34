"""The shape of the source: one idea a module, no drawers for odds and ends, nothing of a workplace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "loralint").rglob("*.py"))
# Tables are long and are read like data.
TABLES = {"axolotl_table.py", "fields.py", "signatures.py"}
MOST_LINES = 300


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_has_one_idea(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES or path.name in TABLES
    assert path.stem not in {"utils", "util", "helpers", "helper", "misc", "common", "shared"}


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_says_what_it_is_for_and_leaves_nothing_open(path):
    text = path.read_text(encoding="utf-8")
    assert re.match(r'"""[^"]', text), "a module starts with its docstring"
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text)
    assert "NotImplementedError" not in text


def test_modules_are_short_as_a_rule():
    lengths = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES)
    assert lengths[len(lengths) // 2] <= 110


def test_a_wheel_holds_types_and_data():
    assert (ROOT / "loralint" / "py.typed").exists()
    assert (ROOT / "loralint" / "_data" / "rules.json").exists()


TEXTS = [
    path
    for pattern in (
        "loralint/**/*.py",
        "rules/**/*.yaml",
        "golden/**/*.yaml",
        "docs/**/*.md",
        "benchmarks/*",
        "*.md",
        "*.toml",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.is_file()
]


def test_nothing_names_a_workplace():
    """Paths of one machine mean nothing to anybody else."""
    places = re.compile(r"(?<![\w.])/(?:work|root|home|tmp)/[\w.]+")
    examples = re.compile(r"/tmp/Meta|/tmp/Llama|/home/user")  # where torchtune's recipes keep models, and anybody's
    told = {
        _name(path): found
        for path in TEXTS
        if (found := [word for word in places.findall(path.read_text(encoding="utf-8")) if not examples.match(word)])
    }
    assert told == {}
