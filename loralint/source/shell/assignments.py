"""`A=1`, `A+=(b)`, `export A`: what a shell remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Part
from loralint.source.shell.words import Field, bounded, expand, joined

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.shell.grammar import Tree
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope


def assign(tree: Tree, syntax: Syntax, scope: Scope) -> tuple[str, tuple[Field, ...]]:
    """What one assignment gives: the variable and its words, added to the old ones for `+=`."""
    name_node, value_node = syntax.child_by_field_name("name"), syntax.child_by_field_name("value")
    name = tree.of(name_node).partition("[")[0] if name_node is not None else ""
    made: tuple[Field, ...]
    if value_node is None:
        end = tree.at(syntax.end_byte)
        made = (Field((), end, end),)
    elif value_node.type == "array":
        made = tuple(one for child in value_node.children if child.is_named and child.type != "comment"
                     for one in expand(tree, child, scope))[:2000]  # fmt: skip
    else:
        made = (joined(tree, value_node, scope),)
    operator = next((child.type for child in syntax.children if child.type in {"=", "+="}), "=")
    old = scope.names.get(name, ())
    if operator == "+=" and value_node is not None:
        made = _added(old, made, array=value_node.type == "array")
    return name, made


def _added(old: tuple[Field, ...], made: tuple[Field, ...], *, array: bool) -> tuple[Field, ...]:
    if array or not old or not made:
        return (*old, *made)[:2000]
    joined_ = bounded(Field((*old[0].parts, *made[0].parts), made[0].start, made[0].end, made[0].quoted))
    return (joined_, *old[1:])


def _assignments(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    several = syntax.children if syntax.type == "variable_assignments" else [syntax]
    for one in several:
        if one.type == "variable_assignment":
            name, made = assign(tree, one, scope)
            if name.isidentifier():
                scope.names[name] = made
            else:  # `--flag=value` at the start of a line is a command, whatever the grammar says
                reading.add([whole(tree, one, made)], scope, {}, (tree.at(one.start_byte), tree.at(one.end_byte)))


def whole(tree: Tree, syntax: Syntax, made: tuple[Field, ...]) -> Field:
    """An assignment as the one word that it is to a shell that cannot take it for one."""
    start, end = tree.at(syntax.start_byte), tree.at(syntax.end_byte)
    value = syntax.child_by_field_name("value")
    until = tree.at(value.start_byte) if value is not None else end
    return Field((Part(tree.text(start, until), start, until), *(made[0].parts if made else ())), start, end)


def _declaration(_reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """`export A=1 B`, `declare -x`, `local`."""
    words = [tree.of(child) for child in syntax.children if child.type == "word"]
    exports = syntax.children[0].type == "export" or any("x" in one for one in words if one.startswith("-"))
    for child in syntax.children[1:]:
        if child.type == "variable_assignment":
            name, made = assign(tree, child, scope)
            scope.names[name] = made
        elif child.type == "variable_name":
            name = tree.of(child)
        else:
            continue
        if exports:
            scope.exported[name] = None


KINDS = {
    "variable_assignment": _assignments,
    "variable_assignments": _assignments,
    "declaration_command": _declaration,
}
