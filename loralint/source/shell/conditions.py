"""Tests whose outcome the file itself decides: `[ -z "$X" ]`, `[[ $A == b ]]`, `[ $n -gt 1 ]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.source.shell.words import joined

if TYPE_CHECKING:
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

_NUMERIC = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
}
_PATTERN = frozenset("*?[")
_COUNT = re.compile(r'"?\$(?:#|\{#\})"?')
_ARGUMENT = re.compile(r'"?\$(?:[1-9]|\{[1-9](?::?-)?\})"?')


def is_test(syntax: Syntax) -> bool:
    """Whether a statement only tests something: `[[ ... ]]`, `[ ... ]`, `test ...`."""
    return syntax.kind == "test" or (syntax.kind == "command" and syntax.children[0].text in {"[", "test"})


def holds(syntax: Syntax, scope: Scope) -> bool | None:
    """Whether a test holds; None where only the run tells, and for every other command.

    `-z` of a variable that the file sets nowhere before holds: it is how scripts give a default, and what the
    environment says instead is asked for as such. So does `-z "$1"`, and `$#` is 0: nobody is seen to give arguments.
    """
    if not is_test(syntax):
        return {"true": True, "false": False}.get(syntax.text.strip())
    words = [one for one in syntax.children if one.text not in {"[", "]", "test"}]
    if len(words) == 2:
        return _unary(words[0].text, words[1], scope)
    return _binary(words[0], words[1], words[2], scope) if len(words) == 3 else None


def _unary(operator: str, operand: Syntax, scope: Scope) -> bool | None:
    if operator not in {"-z", "-n"}:
        return None
    if operator == "-z" and _unset(operand, scope):
        return True
    if scope.args is None and _ARGUMENT.fullmatch(operand.text):
        return operator == "-z"
    field = joined(operand, scope)
    return None if field.why else (field.text == "") == (operator == "-z")


def _unset(operand: Syntax, scope: Scope) -> bool:
    name = operand.text.strip('"${}').removesuffix(":-")
    return name.isidentifier() and name not in scope.names and "$" in operand.text


def _binary(left: Syntax, middle: Syntax, right: Syntax, scope: Scope) -> bool | None:
    one, other, operator = joined(left, scope), joined(right, scope), middle.text
    if _COUNT.fullmatch(left.text) and operator in _NUMERIC and other.text.isdecimal():
        count = None if any(given.why for given in scope.args or ()) else len(scope.args or ())
        return _NUMERIC[operator](count, int(other.text[:9])) if count is not None else None
    if one.why or other.why or _PATTERN & set(other.text):
        return None
    if operator in {"=", "=="}:
        return one.text == other.text
    if operator == "!=":
        return one.text != other.text
    numbers = [int(field.text) for field in (one, other) if field.text.isascii() and field.text.isdigit()][:2]
    return _NUMERIC[operator](*numbers) if operator in _NUMERIC and len(numbers) == 2 else None
