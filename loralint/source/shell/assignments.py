"""`A=1`, `A+=(b)`, `export A`: what a shell remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.shell.words import Field, bounded, expand, joined

if TYPE_CHECKING:
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

_MOST = 2000  # words of an array


def assign(syntax: Syntax, scope: Scope) -> tuple[str, tuple[Field, ...]]:
    """What one assignment gives: the variable and its words, added to the old ones for `+=`."""
    name, value, (sign,) = syntax.parts["name"][0].text, syntax.part("value"), syntax.parts["sign"]
    made: tuple[Field, ...]
    if sign.text:  # one item of an array, of which nobody keeps the numbers
        return name, (*scope.names.get(name, ()), *((joined(value, scope),) if value is not None else ()))[:_MOST]
    if value is None:
        made = (Field((), syntax.end, syntax.end),)
    elif value.kind == "array":
        made = tuple(one for child in value.children for one in expand(child, scope))[:_MOST]
    else:
        made = (joined(value, scope),)
    if sign.kind == "+=" and value is not None:
        made = _added(scope.names.get(name, ()), made, array=value.kind == "array")
    return name, made


def _added(old: tuple[Field, ...], made: tuple[Field, ...], *, array: bool) -> tuple[Field, ...]:
    if array or not old or not made:
        return (*old, *made)[:_MOST]
    one = bounded(Field((*old[0].parts, *made[0].parts), made[0].start, made[0].end, made[0].quoted))
    return (one, *old[1:])


def _assignments(_reading: Reading, syntax: Syntax, scope: Scope) -> None:
    for one in syntax.children:
        if one.kind == "assignment":
            name, made = assign(one, scope)
            scope.names[name] = made


def _declaration(_reading: Reading, syntax: Syntax, scope: Scope) -> None:
    """`export A=1 B`, `declare -x`, `local`."""
    words = [child.text for child in syntax.children if child.kind == "word"]
    exports = words[:1] == ["export"] or any("x" in one for one in words[1:] if one.startswith("-"))
    for child in syntax.children:
        name = child.text if child.kind == "word" else ""
        if child.kind == "assignment":
            name, made = assign(child, scope)
            scope.names[name] = made
        if exports and name.isidentifier() and name != "export":
            scope.exported[name] = None


KINDS = {"assignments": _assignments, "declaration": _declaration}
