"""Loops, which are followed word by word where the words are known and few, and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.shell.words import expand

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.shell.grammar import Tree
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope

_UNROLLED = 12  # a loop over so few known words is followed word by word


def _for(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    variable, body = syntax.child_by_field_name("variable"), syntax.child_by_field_name("body")
    if variable is None or body is None:
        return
    name = tree.of(variable)
    values = [one for child in syntax.children_by_field_name("value") for one in expand(tree, child, scope)]
    fixed = values and len(values) <= _UNROLLED and not any(one.why or "*" in one.text for one in values)
    if not fixed:
        _changing(reading, tree, body, scope, name)
        return
    for one in values:
        scope.names[name] = (one,)
        reading.run(tree, body, scope)


def _while(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    _changing(reading, tree, syntax, scope, "")


def _changing(reading: Reading, tree: Tree, body: Syntax, scope: Scope, name: str) -> None:
    """A body that runs nobody knows how often: what it sets is not known from its start on."""
    own = scope.copy(sure=False)
    for one in {name, *_set_in(tree, body)} - {""}:
        own.forget(one, f"`${one}` changes in a loop", scope.names.get(one, ()))
    for child in body.children:
        if child.is_named:
            reading.run(tree, child, own)
    for one in _set_in(tree, body):
        own.forget(one, f"`${one}` is set in a loop", own.names.get(one, ()))
    scope.merge([scope.copy(), own])


def _set_in(tree: Tree, body: Syntax) -> set[str]:
    """The variables that are set somewhere in a body."""
    found, stack = set(), [body]
    while stack:
        node = stack.pop()
        if node.type == "variable_assignment" and node.children:
            found.add(tree.of(node.children[0]).partition("[")[0])
        if node.type == "command" and node.children and tree.of(node.children[0]) in {"read", "mapfile", "shift"}:
            found.update(tree.of(child) for child in node.children[1:] if tree.of(child).isidentifier())
        stack.extend(node.children)
    return found


def _function(_reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    name, body = syntax.child_by_field_name("name"), syntax.child_by_field_name("body")
    if name is not None and body is not None:
        scope.functions[tree.of(name)] = (tree, body)


KINDS = {
    "for_statement": _for,
    "c_style_for_statement": _while,
    "while_statement": _while,
    "function_definition": _function,
}
