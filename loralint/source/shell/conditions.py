"""Tests whose outcome the file itself decides: `[ -z "$X" ]`, `[[ $A == b ]]`, `[ $n -gt 1 ]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.shell.words import joined

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.shell.grammar import Tree
    from loralint.source.shell.scope import Scope

_NUMERIC = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
}
_PATTERN = frozenset("*?[")


def holds(tree: Tree, syntax: Syntax, scope: Scope) -> bool | None:
    """Whether a test holds; None where only the run tells, and for every other command.

    `-z` of a variable that the file sets nowhere before holds: it is how scripts give a default, and what the
    environment says instead is asked for as such.
    """
    if syntax.type != "test_command":
        return {"true": True, "false": False}.get(tree.of(syntax).strip())
    inside = [child for child in syntax.children if child.is_named]
    if len(inside) != 1:
        return None
    if inside[0].type == "unary_expression":
        return _unary(tree, inside[0], scope)
    return _binary(tree, inside[0], scope) if inside[0].type == "binary_expression" else None


def _unary(tree: Tree, syntax: Syntax, scope: Scope) -> bool | None:
    operator, operand = tree.of(syntax.children[0]), syntax.children[-1]
    if operator not in {"-z", "-n"}:
        return None
    field = joined(tree, operand, scope)
    if operator == "-z" and _unset(tree, operand, scope):
        return True
    return None if field.why else (field.text == "") == (operator == "-z")


def _unset(tree: Tree, operand: Syntax, scope: Scope) -> bool:
    name = tree.of(operand).strip('"${}').removesuffix(":-")
    return name.isidentifier() and name not in scope.names


def _binary(tree: Tree, syntax: Syntax, scope: Scope) -> bool | None:
    if len(syntax.children) != 3:
        return None
    left, middle, right = syntax.children
    one, other, operator = joined(tree, left, scope), joined(tree, right, scope), tree.of(middle)
    if one.why or other.why or _PATTERN & set(other.text):
        return None
    if operator in {"=", "=="}:
        return one.text == other.text
    if operator == "!=":
        return one.text != other.text
    numbers = [int(field.text) for field in (one, other) if field.text.isascii() and field.text.isdigit()][:2]
    return _NUMERIC[operator](*numbers) if operator in _NUMERIC and len(numbers) == 2 else None
