"""The walk over statements, held to the standard library's walk over everything."""

from __future__ import annotations

import ast
import inspect
import tarfile
import tokenize

import pytest

from loralint.frameworks.python.syntax import statements

EVERY = """
match x:
    case 1:
        a
    case _:
        b
try:
    c
except* E:
    d
else:
    e
finally:
    f
"""


@pytest.mark.parametrize("text", [EVERY, *map(inspect.getsource, (ast, inspect, tarfile, tokenize))])
def test_all_statements_come_once_and_in_the_order_of_the_text(text):
    tree = ast.parse(text)
    found = list(statements(tree.body))
    assert {id(one) for one in found} == {id(one) for one in ast.walk(tree) if isinstance(one, ast.stmt)}
    places = [(one.lineno, one.col_offset) for one in found]
    assert places == sorted(places)
    assert len(places) == len(set(places))


def test_a_long_chain_needs_no_stack():
    text = "if x == 0:\n    pass\n" + "".join(f"elif x == {n}:\n    pass\n" for n in range(80))
    nested: list[ast.stmt] = ast.parse(text).body
    for _ in range(5_000):
        nested = [ast.If(test=ast.Name("x"), body=[ast.Pass()], orelse=nested)]
    assert sum(1 for _ in statements(nested)) == 2 * (5_000 + 81)
