"""No value that a file can hold makes a row of any reader fail, in either direction."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING

import pytest

from loralint.canonical.fields import FIELDS
from loralint.frameworks.detect import NAMES, reader
from loralint.model import Unknown

if TYPE_CHECKING:
    from conftest import Reading

    from loralint.frameworks.table import Reader

MODULES = sorted({*NAMES.values(), "peft_comparison"})
SCALARS = (None, True, False, 0, -1, 3, 0.5, float("inf"), float("nan"), 10**299, "", ",", "abc", "8", "a=1,=", "\x00")
LISTS: tuple[object, ...] = ([], [1], [[1]], [None], [{}], [{"path": [1]}], [{"path": None}], [Unknown("later"), "a"])
MAPPINGS: tuple[object, ...] = (
    {}, {"a": 1}, {"path": 1}, {"a": {"b": [1]}}, {None: 1}, {1: 2}, {True: [None]}, {"_component_": [1]},
    {"_component_": None}, {"name": [1]}, {"datasets": [1]}, {"datasets": {"id": 1}}, {"datasets": [{"id": [1]}]},
)  # fmt: skip
ODD = (*SCALARS, *LISTS, *MAPPINGS)


@pytest.mark.parametrize("module", MODULES)
def test_every_row_takes_every_value(module: str) -> None:
    found: Reader = reader(module)
    for entry in found.table:
        for value in ODD:
            entry.read(value)
            entry.write(value)


@pytest.mark.parametrize("value", [[], [[1]], {}, {"a": {"b": [1]}}, None, "", "${X}", -1, True], ids=str)
@pytest.mark.parametrize("module", MODULES)
def test_a_file_in_which_every_key_holds_the_same_is_read(module: str, value: object, reading: Reading) -> None:
    found: Reader = reader(module)
    tree: dict[str, object] = {}
    for entry in found.table:
        *outer, name = entry.key.split(".")
        inside = tree
        for key in outer:
            below = inside.get(key)
            below = inside[key] = below if isinstance(below, dict) else {}
            inside = below
        inside.setdefault(name, deepcopy(value))
    config = reading(found, json.dumps(tree), "args.json")
    for field in FIELDS:
        config.get(field)


@pytest.mark.parametrize("module", MODULES)
def test_a_file_that_is_no_mapping_at_all_is_read(module: str, reading: Reading) -> None:
    config = reading(reader(module), "a: [\n")
    assert not any(config.get(field).span for field in FIELDS)
