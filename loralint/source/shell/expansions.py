"""What `$X`, `${X:-y}`, `${a[@]}`, `$((...))` and `$(...)` stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from loralint.source.command import Part
from loralint.source.shell.words import Field, expand, joined

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.shell.grammar import Tree
    from loralint.source.shell.scope import Scope

_LARGEST = 2**63
_ALL = frozenset({"@", "*"})


def value(tree: Tree, syntax: Syntax, scope: Scope, *, quoted: bool) -> Iterator[Part | tuple[Field, ...]]:
    """The parts of an expansion; a tuple of fields where it gives several words of their own."""
    start, end = tree.at(syntax.start_byte), tree.at(syntax.end_byte)
    if syntax.type == "simple_expansion":
        yield from _variable(tree.text(start + 1, end), (start, end), scope, quoted=quoted)
    elif syntax.type == "expansion":
        yield from _expansion(tree, syntax, scope, quoted=quoted)
    elif (text := _printed(tree, syntax, scope)) is not None:
        yield from text.parts
    else:
        number = (
            _arithmetic(tree, syntax, scope) if syntax.type == "arithmetic_expansion" else _expr(tree, syntax, scope)
        )
        if number is None:
            written = tree.text(start, end)
            yield Part("${...}", start, end, f"`{_short(written)}` is worked out when it runs")
        else:
            yield Part(str(number), start, end)


def _printed(tree: Tree, syntax: Syntax, scope: Scope) -> Field | None:
    """`$(cat <<EOF ...)`: the here-document without its last line break."""
    inside = [child for child in syntax.children if child.is_named]
    if syntax.type != "command_substitution" or len(inside) != 1 or inside[0].type != "redirected_statement":
        return None
    from loralint.source.shell.heredocs import document

    heredoc = next((child for child in inside[0].children if child.type == "heredoc_redirect"), None)
    body = inside[0].child_by_field_name("body")
    if heredoc is None or body is None or tree.of(body) != "cat":
        return None
    found = document(tree, heredoc, scope)
    if found is None or not found.parts:
        return found
    *rest, last = found.parts
    text = last.text.rstrip("\n")
    return found._replace(parts=(*rest, last._replace(text=text, end=last.end - len(last.text) + len(text))))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:37] + "..."


def _variable(name: str, at: tuple[int, int], scope: Scope, *, quoted: bool) -> Iterator[Part | tuple[Field, ...]]:
    if name in _ALL:
        if scope.args is None:
            yield Part(f"${{{name}}}", *at, scope.why_absent(name))
        elif quoted or scope.args:
            yield scope.args
        return
    fields = _named(name, scope)
    if fields is None:
        yield Part(f"${{{name}}}", *at, scope.why_absent(name))
    elif fields:
        yield from fields[0].parts


def _named(name: str, scope: Scope) -> tuple[Field, ...] | None:
    """The words of a variable or argument; None when the file does not say."""
    if name.isdigit():
        number = int(name[:6])
        if scope.args is None or not number:
            return None
        return scope.args[number - 1 : number]
    return scope.names.get(name)


def _expansion(tree: Tree, syntax: Syntax, scope: Scope, *, quoted: bool) -> Iterator[Part | tuple[Field, ...]]:
    start, end = tree.at(syntax.start_byte), tree.at(syntax.end_byte)
    inside = [child for child in syntax.children if child.type not in {"${", "}"}]
    head = next((one for one in inside if one.type in {"variable_name", "special_variable_name", "subscript"}), None)
    if head is None or head is not inside[0]:
        yield Part("${...}", start, end, f"`{_short(tree.text(start, end))}` is worked out when it runs")
        return
    name, index = _subscripted(tree, head)
    if len(inside) == 1:
        yield from _indexed(name, index, (start, end), scope, quoted=quoted)
        return
    operator, rest = tree.text(tree.at(inside[1].start_byte), tree.at(inside[1].end_byte)), inside[2:]
    fields = _named(name, scope) if not index else None
    empty = not fields or not (fields[0].text or fields[0].why)
    if operator in {":-", "-", ":=", "="}:
        if (fields is None) if operator in {"-", "="} else empty:
            yield from _otherwise(tree, rest, scope)
        else:
            yield from _variable(name, (start, end), scope, quoted=quoted)
    elif operator in {":?", "?"}:
        yield from _variable(name, (start, end), scope, quoted=quoted)
    elif operator in {":+", "+"} and fields is not None and not any(one.why for one in fields):
        if not empty:
            yield from _otherwise(tree, rest, scope)
    else:
        yield Part(f"${{{name}}}", start, end, f"`{_short(tree.text(start, end))}` is worked out when it runs")


def _otherwise(tree: Tree, rest: list[Syntax], scope: Scope) -> Iterator[Part | tuple[Field, ...]]:
    """The word behind `:-`."""
    for one in rest:
        yield from joined(tree, one, scope).parts


def _subscripted(tree: Tree, head: Syntax) -> tuple[str, str]:
    text = tree.text(tree.at(head.start_byte), tree.at(head.end_byte))
    name, _, index = text.partition("[")
    return name, index.rstrip("]")


def _indexed(
    name: str, index: str, at: tuple[int, int], scope: Scope, *, quoted: bool
) -> Iterator[Part | tuple[Field, ...]]:
    if not index:
        yield from _variable(name, at, scope, quoted=quoted)
        return
    fields = scope.names.get(name)
    if fields is None:
        yield Part(f"${{{name}}}", *at, scope.why_absent(name))
    elif index in _ALL:
        yield fields
    elif index.isdigit() and len(index) < 5 and not any(one.why for one in fields):
        for one in fields[int(index) : int(index) + 1]:
            yield from one.parts
    else:
        yield Part(f"${{{name}}}", *at, f"which item `${{{name}[{_short(index)}]}}` is, is told when it runs")


def _arithmetic(tree: Tree, syntax: Syntax, scope: Scope) -> int | None:
    inside = [child for child in syntax.children if child.is_named]
    return _number(tree, inside[0], scope) if len(inside) == 1 else None


def _number(tree: Tree, syntax: Syntax, scope: Scope) -> int | None:
    """A whole number of 64 bits, or None for what is not known or not worth it."""
    if syntax.type == "parenthesized_expression":
        inside = [child for child in syntax.children if child.is_named]
        return _number(tree, inside[0], scope) if len(inside) == 1 else None
    if syntax.type == "binary_expression" and len(syntax.children) == 3:
        left, operator, right = syntax.children
        return _calculate(_number(tree, left, scope), operator.type, _number(tree, right, scope))
    if syntax.type == "variable_name":
        fields = scope.names.get(tree.text(tree.at(syntax.start_byte), tree.at(syntax.end_byte)))
        return _whole(fields[0]) if fields else None
    if syntax.type in {"number", "word", "simple_expansion", "expansion", "string"}:
        return _whole(joined(tree, syntax, scope))
    return None


def _whole(field: Field) -> int | None:
    text = field.text
    return int(text) if not field.why and text.isascii() and text.isdigit() and len(text) < 19 else None


def _calculate(left: int | None, operator: str, right: int | None) -> int | None:
    if left is None or right is None or (operator in {"/", "%"} and not right):
        return None
    if operator == "**" and not 0 <= right < 63:
        return None
    number = _OPERATIONS[operator](left, right) if operator in _OPERATIONS else None
    return number if number is not None and abs(number) < _LARGEST else None


def _divided(left: int, right: int) -> int:
    """Towards zero, as C and the shell do it."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divided,
    "%": lambda left, right: left - _divided(left, right) * right,
    "**": lambda left, right: left**right,
}


def _expr(tree: Tree, syntax: Syntax, scope: Scope) -> int | None:
    """`$(expr 16 / $n)`, the one program that scripts use as if it were a part of the shell."""
    commands = [child for child in syntax.children if child.is_named]
    if len(commands) != 1 or commands[0].type != "command":
        return None
    words = [one for child in commands[0].children for one in expand(tree, child, scope)]
    if len(words) != 4 or words[0].text != "expr":
        return None
    return _calculate(_whole(words[1]), words[2].text.lstrip("\\"), _whole(words[3]))
