"""Names and attributes as they are read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loralint.source.python import objects
from loralint.source.python.targets import look_up
from loralint.source.python.walk import evaluate

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


def _attribute(state: State, node: ast.Attribute) -> Held:
    return objects.attribute(state, evaluate(state, node.value), node.attr, node)


EXPRESSIONS = {ast.Name: look_up, ast.Attribute: _attribute}
