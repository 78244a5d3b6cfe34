"""What IPython understands besides Python: lines for a shell, magics, help. All keep their length, so places stay."""

from __future__ import annotations

import re
from typing import NamedTuple

from loralint.source.command import Files
from loralint.source.script import Typed

_LINE = re.compile(r"(?m)^([ \t]*)([%!?]|[\w.\[\]\"', ]+=[ \t]*[%!](?!=)|[\w.]+\?{1,2}[ \t]*$)")
_CELL = re.compile(r"\s*%%(\w*)[ \t]*([^\r\n]*)")
_MAGIC = re.compile(r"%(\w+)[ \t]*")
_ASSIGNED = re.compile(r"[^=]*=[ \t]*")
# `%env NAME value`, the same as `%env NAME=value`
_SPACED = re.compile(r"(\w+)[ \t](?=[^\s=])")
_BRACES = re.compile(r"(?<![$\\{])\{([^{}\n]+)\}")
# The rest of a line, and the lines that backslashes add to it.
_REST = re.compile(r"(?:[^\\\r\n]+|\\(?:[ \t]*\r?\n)?)*")
_SHELLS = frozenset({"bash", "sh", "shell", "script", "!"})
_PYTHON = frozenset(
    {"capture", "time", "timeit", "prun", "python", "python3", "memray_flamegraph", "debug", "snakeviz"}
)
_WRITES = frozenset({"writefile", "file"})
# What a shell calls them; none is longer than the magic, so that every place stays.
_COMMANDS = {"pip": "pip", "conda": "conda", "cd": "cd", "run": "py", "env": "", "set_env": ""}
# These set what later lines find.
_LASTING = frozenset({"cd", "env", "set_env"})
_PREFIXES = frozenset({"time", "timeit", "prun", "memit"})


class Magics(NamedTuple):
    """A cell without them. python: of the cell's own length. shell: with offsets in the cell."""

    python: str
    shell: tuple[Typed, ...] = ()
    files: tuple[Files, ...] = ()


def has_magics(cell: str) -> bool:
    """Whether a cell has lines that look like more than Python."""
    return _LINE.search(cell) is not None


def untangle(cell: str) -> Magics:
    """Take a cell apart."""
    whole = _CELL.match(cell)
    if not whole:
        return _lines(cell, 0)
    body, name = whole.end(), whole[1]
    blank = blanked(cell[:body])
    if name in _PYTHON:
        inner = _lines(cell[body:], body)
        return inner._replace(python=blank + inner.python)
    rest = blank + blanked(cell[body:])
    if name in _SHELLS and (name != "script" or "sh" in whole[2]):
        return Magics(rest, (Typed(cell[body:], body, "cell"),))
    if name in _WRITES:
        start = body + len(cell[body:]) - len(cell[body:].lstrip("\r\n"))
        target = whole[2].split()
        return Magics(rest, (), (Files(target[-1], cell[start:], start),) if target else ())
    return Magics(rest)


def blanked(text: str) -> str:
    """Spaces of a text's length; its line breaks stay."""
    return re.sub(r"[^\r\n]", " ", text)


def _lines(cell: str, base: int) -> Magics:
    parts: list[str] = []
    shell: list[Typed] = []
    at = 0
    while match := _LINE.search(cell, at):
        start = match.end(1)
        rest = _REST.match(cell, start)
        end = rest.end() if rest else start
        parts += [cell[at:start], _line(cell[start:end], base + start, shell)]
        at = end
    return Magics("".join((*parts, cell[at:])), tuple(shell))


def _line(line: str, offset: int, shell: list[Typed]) -> str:
    """What stays of one line for Python; what a shell gets is added to `shell`."""
    if line.startswith("!"):
        text = line.lstrip("!")
        shell.append(Typed(_expanded(text), offset + len(line) - len(text)))
        return _idle(line)
    magic = _MAGIC.match(line)
    if magic is None:
        assigned = _ASSIGNED.match(line)
        if line.startswith(("?", "%")) or assigned is None:
            return _idle(line)
        rest = line[assigned.end() :]
        if rest.startswith("!"):
            shell.append(Typed(_expanded(rest[1:]), offset + assigned.end() + 1))
        return assigned[0] + "_" + blanked(rest[1:])
    if magic[1] in _PREFIXES:
        return _prefixed(line, magic.end())
    command = _COMMANDS.get(magic[1])
    if command is not None:
        rest = _expanded(line[magic.end() :])
        if not command:
            rest = _SPACED.sub(r"\1=", rest, count=1)
        kind = "magic" if magic[1] in _LASTING else "line"
        shell.append(Typed(command.ljust(magic.end() - 1) + rest, offset + 1, kind))
    return _idle(line)


def _prefixed(line: str, end: int) -> str:
    """`%time trainer.train()`: the rest is Python, after an expression that does nothing."""
    return ("0;" + " " * (end - 2) if end > 1 else "") + line[end:]


def _idle(line: str) -> str:
    """A statement of the line's length that does nothing."""
    first = next(word for word in ("pass", "...", "00", "0") if len(word) <= len(line))
    return first + blanked(line[len(first) :])


def _expanded(text: str) -> str:
    """IPython fills `{name}` in before the shell sees it: a variable that no shell knows, of the same length."""
    return _BRACES.sub(lambda match: "$" + "".join(c if c.isalnum() else "_" for c in match[1]) + "_", text)
