"""No value that a file can hold makes a row of any reader fail, in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loralint.frameworks.detect import NAMES, reader
from loralint.model import Unknown

if TYPE_CHECKING:
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
