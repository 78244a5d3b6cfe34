"""Loops, which are followed word by word where the words are known and few, and functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.source.shell.words import expand

if TYPE_CHECKING:
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

# All arguments of a script; and what a loop asks that goes through them.
_ALL = frozenset({'"$@"', "$@", '"$*"', "$*"})
_OPTIONS = re.compile(r"^getopts\b|\$\{?#\}?(?!\w)|\$\{?1\b")
_UNROLLED = 12  # a loop over so few known words is followed word by word


def _for(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    names, body = [one.text for one in syntax.parts["names"]], syntax.parts["body"]
    if all(one.text in _ALL for one in syntax.parts["values"]) and scope.args is None:
        _changing(reading, body, scope.copy(), names)
        return
    values = [one for child in syntax.parts["values"] for one in expand(child, scope)]
    fixed = values and len(values) <= _UNROLLED and not any(one.why or "*" in one.text for one in values)
    if not fixed:
        _changing(reading, body, scope, names)
        return
    for one in values:
        scope.names.update(dict.fromkeys(names, (one,)))
        reading.run_all(body, scope)


def _while(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    """A loop over the script's own options is not entered where nobody is seen to give any."""
    condition = syntax.parts["condition"]
    options = scope.args is None and bool(condition) and _OPTIONS.search(condition[0].text) is not None
    _changing(reading, syntax.children, scope.copy() if options else scope, [])


def _changing(reading: Reading, body: list[Syntax], scope: Scope, names: list[str]) -> None:
    """A body that runs nobody knows how often: what it sets is not known from its start on."""
    own, changed = scope.copy(sure=False), {*names, *_set_in(body)}
    for one in changed:
        own.forget(one, f"`${one}` changes in a loop", scope.names.get(one, ()))
    reading.run_all(body, own)
    for one in changed:
        own.forget(one, f"`${one}` is set in a loop", own.names.get(one, ()))
    scope.merge([scope.copy(), own], "set in a loop")


def _set_in(body: list[Syntax]) -> set[str]:
    """The variables that are set somewhere in a body."""
    found, stack = set(), list(body)
    while stack:
        node = stack.pop()
        if node.kind == "assignment":
            found.add(node.parts["name"][0].text)
        elif node.kind == "for":
            found.update(one.text for one in node.parts["names"])
        elif node.kind == "command" and node.children[0].text in {"read", "mapfile", "shift"}:
            found.update(child.text for child in node.children[1:] if child.text.isidentifier())
        stack.extend(node.children)
    return found


def _function(_reading: Reading, syntax: Syntax, scope: Scope) -> None:
    scope.functions[syntax.text] = syntax.parts["body"][0]


KINDS = {"for": _for, "while": _while, "function": _function}
