"""`if`, `case`, `&&` and `||`: ways that may be taken, each followed on a copy of what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.shell.conditions import holds

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.shell.grammar import Tree
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope


def _pipeline(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    for child in syntax.children:
        if child.is_named:
            reading.run(tree, child, scope.copy())


def _subshell(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    own = scope.copy()
    for child in syntax.children:
        if child.is_named:
            reading.run(tree, child, own)


def _list(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """`a && b || c`: what stands behind `||`, or behind a test, may not run."""
    spine = []
    node: Syntax | None = syntax
    while node is not None and node.type == "list":
        spine.append(node)
        node = node.children[0]
    if node is not None:
        reading.run(tree, node, scope)
    tested = node is not None and node.type == "test_command"
    verdict = holds(tree, node, scope) if node is not None and tested else None
    for one in reversed(spine):
        operator, right = one.children[1].type, one.children[-1]
        runs = (verdict if operator == "&&" else not verdict) if verdict is not None else None
        verdict = None if runs is not False else verdict
        if runs is None and (operator == "||" or tested):
            _branches(reading, tree, scope, [[right]], whole=False)
        elif runs is not False:
            reading.run(tree, right, scope)
        tested = tested and operator == "&&"


def _branches(reading: Reading, tree: Tree, scope: Scope, ways: list[list[Syntax]], *, whole: bool) -> None:
    """Follow several ways, each on its own. whole: one of them is taken in any case."""
    outcomes = [] if whole else [scope.copy()]
    for way in ways:
        own = scope.copy(sure=False)
        for one in way:
            reading.run(tree, one, own)
        outcomes.append(own)
    scope.merge(outcomes)


def _if(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """Take the branch that is known to be taken, else follow all."""
    ways: list[list[Syntax]] = []
    for condition, body in _arms(syntax):
        for one in condition:
            reading.run(tree, one, scope)
        verdict = holds(tree, condition[0], scope) if len(condition) == 1 else None if condition else True
        if verdict is True and not ways:
            for one in body:
                reading.run(tree, one, scope)
            reading.ended = False  # a check that stops a template which nobody has filled in yet
            return
        if verdict is not False:
            ways.append(body)
        if verdict is True:
            _branches(reading, tree, scope, ways, whole=True)
            return
    _branches(reading, tree, scope, ways, whole=False)


def _arms(syntax: Syntax) -> list[tuple[list[Syntax], list[Syntax]]]:
    """(condition, body) of `if`, each `elif`, and `else` with no condition."""
    condition: list[Syntax] = []
    body: list[Syntax] = []
    arms: list[tuple[list[Syntax], list[Syntax]]] = []
    then = False
    for child in syntax.children:
        if child.type in {"elif_clause", "else_clause"}:
            arms += _arms(child)
        elif child.type == "then":
            then = True
        elif child.is_named:
            (body if then or syntax.type == "else_clause" else condition).append(child)
    return [(condition, body), *arms]


def _case(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    items = [child for child in syntax.children if child.type == "case_item"]
    ways = [_body(item) for item in items]
    whole = any(tree.of(item.children[0]).strip() == "*" for item in items if item.children)
    _branches(reading, tree, scope, ways, whole=whole)


def _body(item: Syntax) -> list[Syntax]:
    named = [one for index, one in enumerate(item.children) if item.field_name_for_child(index) != "value"]
    return [one for one in named if one.is_named]


KINDS = {"list": _list, "pipeline": _pipeline, "subshell": _subshell, "if_statement": _if, "case_statement": _case}
