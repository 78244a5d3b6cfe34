"""What a program or a notebook runs in shells, one after the other, with what lasts from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from loralint.source.command import Part, Shell
from loralint.source.document import Fault
from loralint.source.shell.commands import perform
from loralint.source.shell.reading import Reading
from loralint.source.shell.scope import Scope

if TYPE_CHECKING:
    from loralint.source.document import Document
    from loralint.source.shell.words import Field


class Step(NamedTuple):
    """One of them. kind: "text" for a shell of its own; "lasting" for a text that sets variables and the folder of all
    that follows; "words" for a command that no shell takes apart; "variable" for a name and its value; "folder".
    names: variables that only this text knows. sure: it happens in every run. folder: where it runs, None for where all
    others do. Offsets are the document's.
    """

    kind: str
    fields: tuple[Field, ...]
    names: Mapping[str, Field] = {}
    sure: bool = True
    folder: Field | None = None


def read_session(document: Document, steps: Iterable[Step]) -> Shell:
    """The commands and files of these steps, up to one that no shell takes, which becomes a problem of the document."""
    reading, scope = Reading(document), Scope()
    for step in steps:
        if not step.fields:
            continue
        try:
            _KINDS[step.kind](reading, step, scope)
        except Fault as fault:
            document.fault(fault.kind, fault.message, step.fields[0].start)
            break
    return Shell(tuple(reading.commands), tuple(reading.files), tuple(reading.faults))


def _text(reading: Reading, step: Step, scope: Scope) -> None:
    own = scope.copy(sure=step.sure)
    own.names.update((name, (one,)) for name, one in step.names.items())
    if step.folder is not None:
        _enter(reading, step.folder, own)
    reading.inner(*reading.texts.join(step.fields, own), own)


def _lasting(reading: Reading, step: Step, scope: Scope) -> None:
    before = dict(scope.names)
    scope.names.update((name, (one,)) for name, one in step.names.items())
    reading.inner(*reading.texts.join(step.fields, scope), scope)
    given = [name for name, fields in scope.names.items() if name not in step.names and before.get(name) != fields]
    scope.exported.update(dict.fromkeys(given))


def _words(reading: Reading, step: Step, scope: Scope) -> None:
    own = scope.copy(sure=step.sure)
    if step.folder is not None:
        _enter(reading, step.folder, own)
    perform(reading, list(step.fields), own, {}, (step.fields[0].start, step.fields[-1].end))


def _variable(_reading: Reading, step: Step, scope: Scope) -> None:
    name, value = step.fields[0].text, step.fields[1]
    scope.exported[name] = None
    if step.sure:
        scope.names[name] = (value,)
    else:
        scope.forget(name, f"`{name}` is set in a branch", (value,))


def _folder(reading: Reading, step: Step, scope: Scope) -> None:
    if not step.sure:
        scope.folder = None
    else:
        _enter(reading, step.fields[0], scope)


def _enter(reading: Reading, folder: Field, scope: Scope) -> None:
    """What `cd` does."""
    cd = folder._replace(parts=(Part("cd", folder.start, folder.end),))
    perform(reading, [cd, folder], scope, {}, (folder.start, folder.end))


_KINDS: Mapping[str, Callable[[Reading, Step, Scope], None]] = {
    "text": _text,
    "lasting": _lasting,
    "words": _words,
    "variable": _variable,
    "folder": _folder,
}
