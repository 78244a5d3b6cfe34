"""Makefiles: variables of make, and recipes, of which every line is a shell of its own.

A recipe is brought into bash's form without moving a character: `$(NAME)` becomes `${NAME}`, of `$$` the first goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loralint.source.command import Part, Shell
from loralint.source.shell.bounds import bound
from loralint.source.shell.faults import Fault, faults
from loralint.source.shell.parser import parse
from loralint.source.shell.reading import Reading
from loralint.source.shell.scope import Scope
from loralint.source.shell.words import FILLER, Field, bounded

if TYPE_CHECKING:
    from loralint.source.document import Document

_NAME = r"[A-Za-z_][\w.-]*"
_ASSIGNMENT = re.compile(
    rf"(?P<export>export[ \t]+)?(?P<name>{_NAME})[ \t]*(?:::?:?|\?|\+)?=[ \t]*(?P<value>.*)", re.DOTALL
)
_OF_TARGET = re.compile(rf"[^\t=#\n][^=#\n]*:[ \t]*(?P<name>{_NAME})[ \t]*(?:::?|\?|\+)?=")
_EXPORT = re.compile(rf"export((?:[ \t]+{_NAME})+)[ \t]*$")
_BRANCH = re.compile(r"[ \t]*(ifeq|ifneq|ifdef|ifndef|endif)\b")
_REFERENCE = re.compile(rf"\$\((?P<round>{_NAME})\)|\$\{{(?P<curly>{_NAME})\}}")


def read_make(document: Document) -> Shell:
    """Read a Makefile's recipes. Raises Fault for one beyond the budgets."""
    bound(document.text)
    scope = Scope()
    lines = list(_logical(document.text))
    for _ in range(2):  # what a variable refers to may be given further down
        _variables(lines, scope)
    reading = Reading(document)
    found: list[Fault] = []
    for start, line in lines:
        if line.startswith("\t"):
            bash = _as_bash(line)
            tree, lexer = parse(bash, start)
            before = len(reading.commands)
            reading.run(tree, scope.copy())
            found += faults(bash, start, lexer, reading.commands[before:])
    return Shell(tuple(reading.commands), tuple(reading.files), tuple(found))


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Lines joined by backslashes, each with its offset."""
    for match in re.finditer(r"(?:[^\\\n]|\\\r?\n|\\.|\\)+", text):
        yield match.start(), match[0]


def _as_bash(line: str) -> str:
    """A recipe line in bash's form, of the same length."""
    line = re.sub(r"\A\t[ \t]*[@+-]*", lambda one: " " * len(one[0]), line)
    line = re.sub(r"\\\n\t", "\\\\\n ", line)
    line = re.sub(rf"(?<!\$)\$\(({_NAME})\)", r"${\1}", line)
    # make fills its variables in before the shell sees quotes
    line = re.sub(r"'([^'\"]*\$\{[^'\"]*)'", r'"\1"', line)
    return line.replace("$$", f"{FILLER}$")


def _variables(lines: list[tuple[int, str]], scope: Scope) -> None:
    depth = 0
    for start, line in lines:
        if branch := _BRANCH.match(line):
            depth += -1 if branch[1] == "endif" else 1
        elif not line.startswith("\t"):
            _variable(line, start, scope, branch=depth > 0)


def _variable(line: str, start: int, scope: Scope, *, branch: bool) -> None:
    lead = len(line) - len(line.lstrip(" "))
    match = _ASSIGNMENT.match(line, lead)
    if listed := _EXPORT.match(line):
        scope.exported.update(dict.fromkeys(listed[1].split()))
    elif match is not None:
        field = _value(match["value"], start + match.start("value"), scope)
        scope.names[match["name"]] = (field,)
        if branch:
            scope.forget(match["name"], f"`$({match['name']})` is set in a branch", (field,))
        if match["export"]:
            scope.exported[match["name"]] = None
    elif of_target := _OF_TARGET.match(line):
        scope.forget(of_target["name"], f"`$({of_target['name']})` is set for one target only")


def _value(text: str, start: int, scope: Scope) -> Field:
    """The parts of a variable's value, references filled in; quotes round all of it are the shell's to take off."""
    text = re.sub(r"(?:[ \t]#.*|\s+)\Z", "", text)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in text[1:-1]
    if quoted:
        start, text = start + 1, text[1:-1]
    parts: list[Part] = []
    at = 0
    for match in re.finditer(rf"{_REFERENCE.pattern}|\$\$?[^ ]?|\\\n", text):
        if match.start() > at:
            parts.append(Part(text[at : match.start()], start + at, start + match.start()))
        name = match["round"] or match["curly"]
        if name:
            parts += _referred(name, start + match.start(), start + match.end(), scope)
        elif match[0].startswith("$"):
            why = "make works it out when it runs"
            parts.append(Part("${...}", start + match.start(), start + match.end(), why))
        at = match.end()
    if at < len(text):
        parts.append(Part(text[at:], start + at, start + len(text)))
    return bounded(Field(tuple(parts), start, start + len(text), quoted))


def _referred(name: str, start: int, end: int, scope: Scope) -> tuple[Part, ...]:
    fields = scope.names.get(name)
    return fields[0].parts if fields else (Part(f"${{{name}}}", start, end, scope.why_absent(name)),)
