"""What is found in a bash text and in the texts inside it, and the way through its statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from loralint.source.command import Assignment, Command, Files, Word
from loralint.source.document import Fault
from loralint.source.shell.bounds import LENGTH
from loralint.source.shell.made import Texts
from loralint.source.shell.parser import parse
from loralint.source.shell.words import Field, as_word

if TYPE_CHECKING:
    from loralint.source.document import Document
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

    Follow = Callable[["Reading", Syntax, Scope], None]

# Statements that are followed in all: functions that call each other and loops in loops multiply them.
_STEPS = 5000
_CALLS = 12  # functions within functions, texts within texts
# What is nothing to do by itself.
_IDLE = frozenset({"test", "calculation", "word", "redirect", "heredoc"})


@cache
def statements() -> dict[str, Follow]:
    """How each kind of statement is followed; what is not named here is followed part by part."""
    from loralint.source.shell import assignments, branches, commands, heredocs, loops

    return {**assignments.KINDS, **branches.KINDS, **commands.KINDS, **heredocs.KINDS, **loops.KINDS}


class Reading:
    """What is found in a text and the texts inside it. prefix: words that every command inside starts with."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.lines = document.lines
        self.commands: list[Command] = []
        self.files: list[Files] = []
        self.faults: list[tuple[str, str, int, int]] = []
        self.texts = Texts()
        self.prefix: tuple[Field, ...] = ()
        self.steps = 0
        self.inside = 0
        self.ended = False

    def step(self) -> None:
        """Count a statement. Raises Fault for a text that would be followed for ever."""
        self.steps += 1
        if self.steps > _STEPS:
            raise Fault("too-large", "too many steps to follow: not a launch script", 0)

    def add(self, words: Sequence[Field], scope: Scope, own: dict[str, Field], at: tuple[int, int],
            documents: tuple[tuple[str, int], ...] = ()) -> None:  # fmt: skip
        """Keep a command, with the variables that it gets."""
        held = {name: scope.names[name][0] for name in scope.exported if scope.names.get(name)}
        held = {name: one for name, one in held.items() if name not in own} | own
        self.steps += len(held)
        env = tuple(Assignment(name, self.word(one)) for name, one in held.items())
        given = tuple(self.word(one) for one in (*self.prefix, *words))
        self.commands.append(Command(given, env, scope.folder, documents, scope.sure, *self.texts.place(*at)))

    def word(self, field: Field) -> Word:
        """The field as a word of the document."""
        return as_word(self.texts.settle(field), self.lines)

    def run(self, syntax: Syntax, scope: Scope) -> None:
        """Follow one statement."""
        if self.ended or syntax.kind in _IDLE:
            return
        self.step()
        follow = statements().get(syntax.kind)
        if follow is not None:
            follow(self, syntax, scope)
        else:
            self.run_all(syntax.children, scope)

    def run_all(self, several: Iterable[Syntax], scope: Scope) -> None:
        """Follow several statements in their order."""
        for one in several:
            self.run(one, scope)

    def inner(self, text: str, start: int, scope: Scope) -> None:
        """Run a text inside a text: of `bash -c`, `eval`, a here-document. Raises Fault when these outgrow all use."""
        self.inside += len(text)
        if self.inside > 2 * LENGTH:
            raise Fault("too-large", "too many texts inside the text: not a launch script", 0)
        scope.depth += 1
        if scope.depth <= _CALLS:
            self.run(parse(text, start)[0], scope)
        scope.depth -= 1

    def call(self, name: str, args: Sequence[Field], scope: Scope) -> None:
        """Follow a function of the script with its arguments; what it sets stays set."""
        body = scope.functions[name]
        if scope.depth >= _CALLS:
            return
        outer, scope.args = scope.args, tuple(args)
        scope.depth += 1
        self.run(body, scope)
        scope.depth -= 1
        scope.args = outer
