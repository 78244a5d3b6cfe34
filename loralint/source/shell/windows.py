"""PowerShell and cmd scripts, as far as they are plain command lines: assignments of literals, and commands.

Lines are brought into bash's form without moving a character. What stands in blocks may not run, and a variable that is
set by anything but a literal is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from loralint.source.command import Command, Part, Shell
from loralint.source.shell.bounds import bound
from loralint.source.shell.faults import Fault, faults
from loralint.source.shell.parser import parse
from loralint.source.shell.reading import Reading
from loralint.source.shell.scope import Scope
from loralint.source.shell.words import BACKSLASH, FILLER, Field

if TYPE_CHECKING:
    from loralint.source.document import Document

_LITERAL = r"(?P<double>\"[^\"`$\n]*\")|(?P<single>'[^'\n]*')|(?P<bare>[\w.+/\\:-]+)"
# `--dir="C:\\train\\" --more`: programs of Windows take `\\"` for a quote that belongs to the text
_TAKEN = re.compile(r"\"[^\"\n]*[^\"\n\\]\\\"(?=\s)")


class _Dialect(NamedTuple):
    """joint: the sign at the end of a line that goes on. assignment, set: `$X = "y"`, and any other that sets X.
    comment, skipped: lines that are none; those that are no plain command.
    """

    joint: str
    assignment: re.Pattern[str]
    sets: re.Pattern[str]
    comment: re.Pattern[str]
    skipped: re.Pattern[str]


_SCOPED = r"\$(?:(?P<env>env):|global:|script:)?(?P<name>\w+)"
_POWERSHELL = _Dialect(
    "`",
    re.compile(rf"(?i)\s*{_SCOPED}[ \t]*=[ \t]*(?:{_LITERAL})[ \t]*(?:#.*)?\Z"),
    re.compile(rf"(?i)\s*{_SCOPED}[ \t]*[+-]?="),
    re.compile(r"\s*(?:#|$)"),
    re.compile(r"(?i)\s*(?:if|else|elseif|foreach|for|while|switch|function|param|try|catch|return|[{}$\[(])"),
)
_CMD = _Dialect(
    "^",
    re.compile(r"(?i)[ \t]*@?set[ \t]+\"?(?P<name>[A-Za-z_]\w*)=(?P<bare>[^\"%\r\n]*)\"?[ \t]*\Z"),
    re.compile(r"(?i)[ \t]*@?set(?:[ \t]+/[ap])?[ \t]+\"?(?P<name>[A-Za-z_]\w*)[ \t]*="),
    re.compile(r"(?i)[ \t]*(?:rem\b|::|$)"),
    re.compile(r"(?i)[ \t]*@?(?:if|for|else|goto|echo|setlocal|endlocal)\b|[ \t]*[:()]"),
)


def read_windows(document: Document) -> Shell:
    """Read the plain command lines of a script for PowerShell or cmd. Raises Fault for one beyond the budgets."""
    bound(document.text)
    dialect = _CMD if document.format == "cmd" else _POWERSHELL
    reading, scope, depth = Reading(document), Scope(), 0
    found: list[Fault] = []
    for start, line in _logical(document.text, dialect.joint):
        if dialect.comment.match(line):
            continue
        here = depth
        depth = max(0, depth + line.count("{") - line.count("}") if dialect is _POWERSHELL else 0)
        if _assigned(line, start, scope, dialect, branch=here > 0) or dialect.skipped.match(line):
            continue
        bash = _as_bash(line, dialect)
        tree, lexer = parse(bash, start)
        before = len(reading.commands)
        reading.run(tree, scope.copy(sure=here == 0))
        found += _swallowed(line, start, reading.commands[before:], dialect)
        found += [
            fault
            for fault in faults(bash, start, lexer, reading.commands[before:])
            if fault[0] not in ("continuation", "assignment")
        ]
    return Shell(tuple(reading.commands), tuple(reading.files), tuple(found))


def _swallowed(line: str, start: int, commands: list[Command], dialect: _Dialect) -> Iterator[Fault]:
    """Yield a path of cmd whose last backslash takes the quote behind it: the argument goes on to the next quote."""
    match = _TAKEN.search(line) if dialect is _CMD and commands else None
    if match is not None:
        message = f"its last backslash makes a letter of the closing quote, so `{match[0][:40]}` takes in what follows"
        yield ("quote", message, start + match.start(), start + match.end())


def _logical(text: str, joint: str) -> Iterator[tuple[int, str]]:
    """Lines joined by the dialect's sign, each with its offset."""
    sign = re.escape(joint)
    for match in re.finditer(rf"(?:[^\n{sign}]|{sign}\r?\n|{sign})+", text):
        yield match.start(), match[0].rstrip("\r")


def _assigned(line: str, start: int, scope: Scope, dialect: _Dialect, *, branch: bool) -> bool:
    """Take note of an assignment; one that is no literal, or in a block, makes its variable unknown."""
    sets = dialect.sets.match(line)
    if sets is None:
        return False
    name, match = sets["name"], dialect.assignment.match(line)
    groups = match.groupdict() if match is not None else {}
    which = next((one for one in ("double", "single", "bare") if groups.get(one) is not None), "")
    if match is None or branch or not which:
        scope.forget(name, f"`{name}` is worked out when it runs")
        return True
    cut = 0 if which == "bare" else 1
    first, last = start + match.start(which) + cut, start + match.end(which) - cut
    scope.names[name] = (
        Field((Part(match[which][cut : len(match[which]) - cut], first, last),), first, last, cut > 0),
    )
    if dialect is _CMD or groups.get("env"):
        scope.exported[name] = None
    return True


def _as_bash(line: str, dialect: _Dialect) -> str:
    """The line in bash's form, of the same length."""
    line = line.replace("\\", BACKSLASH)
    line = re.sub(rf"{re.escape(dialect.joint)}(\r?\n)", r"\\\1", line)
    if dialect is _CMD:
        line = re.sub(r"%(\w+)%", rf"$\1{FILLER}", line)
        line = line.replace("'", FILLER) if line.count("'") % 2 else line
        return re.sub(r"\A([ \t]*)@?(?:call|start)?(?=[ \t])", lambda one: " " * len(one[0]), line, flags=re.IGNORECASE)
    line = re.sub(r"`[^\r\n]", FILLER * 2, line)  # within a line it only escapes the next character
    line = re.sub(r"\$env:(?=\w)", f"{FILLER * 4}$", line, flags=re.IGNORECASE)
    return re.sub(r"\A(\s*)&(?=\s)", r"\1 ", line)
