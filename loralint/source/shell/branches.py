"""`if`, `case`, `&&` and `||`: ways that may be taken, each followed on a copy of what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.shell.conditions import holds, is_test

if TYPE_CHECKING:
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax


def _pipeline(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    for child in syntax.children:
        reading.run(child, scope.copy())


def _subshell(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    reading.run_all(syntax.children, scope.copy())


def _list(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    """`a && b || c`: what stands behind `||`, or behind a test, may not run."""
    first = syntax.children[0]
    reading.run(first, scope)
    tested, verdict = is_test(first), holds(first, scope)
    for sign, right in zip(syntax.children[1::2], syntax.children[2::2], strict=True):
        runs = (verdict if sign.kind == "&&" else not verdict) if verdict is not None else None
        verdict = None if runs is not False else verdict
        if runs is None and (sign.kind == "||" or tested):
            _branches(reading, scope, [[right]], whole=False)
        elif runs is not False:
            reading.run(right, scope)
        tested = tested and sign.kind == "&&"


def _branches(reading: Reading, scope: Scope, ways: list[list[Syntax]], *, whole: bool) -> None:
    """Follow several ways, each on its own. whole: one of them is taken in any case."""
    outcomes = [] if whole else [scope.copy()]
    for way in ways:
        own = scope.copy(sure=False)
        reading.run_all(way, own)
        outcomes.append(own)
    scope.merge(outcomes, "set in a branch")


def _if(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    """Take the branch that is known to be taken, else follow all."""
    ways: list[list[Syntax]] = []
    for arm in syntax.children:
        condition, body = arm.parts["condition"], arm.parts["body"]
        reading.run_all(condition, scope)
        verdict = holds(condition[0], scope) if len(condition) == 1 else None if condition else True
        if verdict is True and not ways:
            reading.run_all(body, scope)
            reading.ended = False  # a check that stops a template which nobody has filled in yet
            return
        if verdict is not False:
            ways.append(body)
        if verdict is True:
            _branches(reading, scope, ways, whole=True)
            return
    _branches(reading, scope, ways, whole=False)


def _case(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    whole = any(item.text == "*" for item in syntax.children)
    _branches(reading, scope, [item.children for item in syntax.children], whole=whole)


KINDS = {"list": _list, "pipeline": _pipeline, "subshell": _subshell, "if": _if, "case": _case}
