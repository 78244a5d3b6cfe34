"""What `$X`, `${X:-y}`, `${a[@]}`, `$((...))` and `$(...)` stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from loralint.source.command import Part
from loralint.source.shell.words import Field, expand, joined

if TYPE_CHECKING:
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

_LARGEST = 2**63
_ALL = frozenset({"@", "*"})


def value(syntax: Syntax, scope: Scope, *, quoted: bool) -> Iterator[Part | tuple[Field, ...]]:
    """The parts of an expansion; a tuple of fields where it gives several words of their own."""
    at = syntax.start, syntax.end
    if syntax.kind == "simple_expansion":
        yield from _variable(syntax.text[1:], at, scope, quoted=quoted)
    elif syntax.kind == "expansion":
        yield from _expansion(syntax, scope, quoted=quoted)
    elif (text := _printed(syntax, scope)) is not None:
        yield from text.parts
    else:
        number = calculate(syntax.text[3:-2], scope) if syntax.kind == "arithmetic_expansion" else _expr(syntax, scope)
        if number is None:
            yield Part("${...}", *at, f"`{_short(syntax.text)}` is worked out when it runs")
        else:
            yield Part(str(number), *at)


def _printed(syntax: Syntax, scope: Scope) -> Field | None:
    """`$(cat <<EOF ...)`: the here-document without its last line break."""
    command = syntax.children[0] if len(syntax.children) == 1 else syntax
    body = command.part("body")
    heredoc = next((one for one in command.parts.get("redirects", ()) if one.kind == "heredoc"), None)
    if (
        syntax.kind != "command_substitution"
        or heredoc is None
        or body is None
        or [one.text for one in body.children] != ["cat"]
    ):
        return None
    from loralint.source.shell.heredocs import document

    found = document(heredoc, scope)
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
        yield from (_placed(part, at) for part in fields[0].parts)


def _placed(part: Part, at: tuple[int, int]) -> Part:
    """What stands in another file has no place in this one; it is told where the variable is."""
    return part if part.end else part._replace(start=at[0], end=at[1])


def _named(name: str, scope: Scope) -> tuple[Field, ...] | None:
    """The words of a variable or argument; None when the file does not say."""
    if name.isdigit():
        number = int(name[:6])
        if scope.args is None or not number:
            return None
        return scope.args[number - 1 : number]
    return scope.names.get(name)


def _expansion(syntax: Syntax, scope: Scope, *, quoted: bool) -> Iterator[Part | tuple[Field, ...]]:
    at = syntax.start, syntax.end
    head, operator, rest = syntax.part("name"), syntax.part("operator"), syntax.parts["rest"]
    if head is None or (operator is None and rest):
        yield Part("${...}", *at, f"`{_short(syntax.text)}` is worked out when it runs")
        return
    name, found = head.text, syntax.part("index")
    index = found.text if found is not None else ""
    if operator is None:
        yield from _indexed(name, index, at, scope, quoted=quoted)
        return
    sign = operator.text
    fields = _named(name, scope) if not index else None
    empty = not fields or not (fields[0].text or fields[0].why)
    if sign in {":-", "-", ":=", "="} and ((fields is None) if sign in {"-", "="} else empty):
        yield from _otherwise(rest, scope)
    elif sign in {":-", "-", ":=", "=", ":?", "?"}:
        yield from _variable(name, at, scope, quoted=quoted)
    elif sign in {":+", "+"} and fields is not None and not any(one.why for one in fields):
        yield from _otherwise(rest, scope) if not empty else ()
    else:
        yield Part(f"${{{name}}}", *at, f"`{_short(syntax.text)}` is worked out when it runs")


def _otherwise(rest: list[Syntax], scope: Scope) -> Iterator[Part]:
    """The word behind `:-`."""
    for one in rest:
        yield from joined(one, scope).parts


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
            yield from (_placed(part, at) for part in one.parts)
    else:
        yield Part(f"${{{name}}}", *at, f"which item `${{{name}[{_short(index)}]}}` is, is told when it runs")


_TOKEN = re.compile(r"\s*(?:(\d{1,18})|\$?\{?([A-Za-z_]\w*)\}?|(\*\*|[-+*/%()]))", re.ASCII)
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "**": 3}
_DEEPEST = 20  # brackets within brackets


def calculate(text: str, scope: Scope) -> int | None:
    """A whole number of 64 bits, or None for what is not known or not worth it."""
    tokens: list[int | str | None] = []
    at = 0
    while at < len(text) and not text[at:].isspace():
        match = _TOKEN.match(text, at)
        if match is None or len(tokens) > 200:
            return None
        fields = scope.names.get(match[2]) if match[2] else None
        tokens.append(int(match[1]) if match[1] else _whole(fields[0]) if fields else match[3] or None)
        at = match.end()
    made = _sum(tokens, 0, 0)
    return made if not tokens else None if made is None or tokens else made


def _sum(tokens: list[int | str | None], least: int, depth: int) -> int | None:
    """Take the expression at the head of the tokens whose signs bind at least so much."""
    left = _operand(tokens, depth)
    while tokens and isinstance(tokens[0], str) and _PRECEDENCE.get(tokens[0], 0) > least:
        sign = str(tokens.pop(0))
        bound = _PRECEDENCE[sign] - (sign == "**")
        left = _calculate(left, sign, _sum(tokens, bound, depth))
    return left


def _operand(tokens: list[int | str | None], depth: int) -> int | None:
    if not tokens or depth > _DEEPEST:
        return None
    head = tokens.pop(0)
    if head == "(":
        inner = _sum(tokens, 0, depth + 1)
        return inner if tokens and tokens.pop(0) == ")" else None
    if head == "-":
        operand = _operand(tokens, depth + 1)
        return -operand if operand is not None else None
    return head if isinstance(head, int) else None


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


def _expr(syntax: Syntax, scope: Scope) -> int | None:
    """`$(expr 16 / $n)`, the one program that scripts use as if it were a part of the shell."""
    if len(syntax.children) != 1 or syntax.children[0].kind != "command":
        return None
    words = [one for child in syntax.children[0].children for one in expand(child, scope)]
    if len(words) != 4 or words[0].text != "expr":
        return None
    return _calculate(_whole(words[1]), words[2].text, _whole(words[3]))
