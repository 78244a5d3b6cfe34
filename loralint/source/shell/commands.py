"""Simple commands: what the shell does itself, what only passes a command on, and all others, which are kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.source.shell.assignments import assign
from loralint.source.shell.conditions import is_test
from loralint.source.shell.words import Field, expand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

Documents = tuple[tuple[str, int], ...]
# Programs that only start another one, with those of their options that take a word of their own.
WRAPPERS: dict[str, frozenset[str]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-U", "--user", "--group"}),
    "env": frozenset({"-u", "--unset", "-C", "--chdir", "-S"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n", "-p"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "timeout": frozenset({"-k", "-s", "--kill-after", "--signal"}),
    "time": frozenset({"-f", "-o"}),
    "nohup": frozenset(),
    "exec": frozenset({"-a"}),
    "command": frozenset(),
    "builtin": frozenset(),
    "setsid": frozenset(),
    "numactl": frozenset({"-m", "-N", "-C", "-i", "-p"}),
    "unbuffer": frozenset(),
    "caffeinate": frozenset({"-t", "-w"}),
    "xvfb-run": frozenset({"-n", "-s"}),
    "start": frozenset(),
}
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
_DURATION = re.compile(r"\d+(\.\d+)?[smhd]?")


def simple(reading: Reading, syntax: Syntax, scope: Scope, documents: Documents) -> None:
    """Follow one simple command. documents: here-documents that it reads."""
    own: dict[str, Field] = {}
    words: list[Field] = []
    for child in syntax.children:
        if child.kind == "assignment":
            name, made = assign(child, scope)
            own[name] = made[0] if made else Field((), child.end, child.end)
        else:
            words += expand(child, scope)
    perform(reading, words, scope, own, (syntax.start, syntax.end), documents)


def perform(
    reading: Reading, words: list[Field], scope: Scope, own: dict[str, Field], at: tuple[int, int],
    documents: Documents = (),
) -> None:  # fmt: skip
    """Do what the words say, as far as the shell itself would."""
    words = _unwrapped(words, own)
    if not words:
        return
    name = words[0].text
    if name in scope.functions and not words[0].why:
        reading.call(name, words[1:], scope)
    elif name in _BUILTINS:
        _BUILTINS[name](reading, words, scope, own, at)
    elif not _nested(reading, words, scope, own, documents):
        reading.add(words, scope, own, at, documents)


def _unwrapped(words: list[Field], own: dict[str, Field]) -> list[Field]:
    """The command without `sudo`, `env A=1`, `nohup` and their like, whose assignments it gets."""
    while words and (valued := WRAPPERS.get(words[0].text)) is not None:
        wrapper, words = words[0].text, words[1:]
        while words and words[0].text.startswith("-"):
            words = words[2 if words[0].text in valued else 1 :]
        while wrapper in {"env", "sudo"} and words and (match := _ASSIGNMENT.match(words[0].text)):
            own[match[1]] = _behind(words[0], match.end())
            words = words[1:]
        if wrapper == "timeout" and words and _DURATION.fullmatch(words[0].text):
            words = words[1:]
    return words


def _behind(field: Field, count: int) -> Field:
    """The field without its first characters."""
    parts = []
    for part in field.parts:
        if count >= len(part.text):
            count -= len(part.text)
        else:
            shift = count if part.end - part.start == len(part.text) else 0
            parts.append(part._replace(text=part.text[count:], start=part.start + shift))
            count = 0
    return Field(tuple(parts), parts[0].start if parts else field.end, field.end, field.quoted)


def _nested(
    reading: Reading, words: Sequence[Field], scope: Scope, own: dict[str, Field], documents: Documents
) -> bool:
    """`bash -c "text"`, also behind a launcher or a container, and `bash <<EOF`: the text is followed instead."""
    index = next((n for n, one in enumerate(words) if one.text.rpartition("/")[2] in SHELLS), -1)
    if index < 0:
        return False
    rest = words[index + 1 :]
    option = next((n for n, one in enumerate(rest[:4]) if re.fullmatch(r"-[a-z]*c", one.text)), -1)
    inside, outer = scope.copy(), reading.prefix
    texts: list[tuple[str, int]] = []
    at = next((n for n, one in enumerate(rest) if n > option >= 0 and not one.text.startswith(("-", "+"))), -1)
    if at >= 0:
        texts = [reading.texts.join([rest[at]], inside)]
        inside.args = tuple(rest[at + 2 :])
    elif option < 0 and all(one.text.startswith("-") for one in rest):
        texts = list(documents)
    for name, one in own.items():
        inside.names[name] = (one,)
        inside.exported[name] = None
    reading.prefix = (*outer, *words[:index])
    for text, start in texts:
        reading.inner(text, start, inside)
    reading.prefix = outer
    return bool(texts)


def _cd(_reading: Reading, words: list[Field], scope: Scope, _own: object, _at: object) -> None:
    where = next((one for one in words[1:] if not one.text.startswith("-") or one.text == "-"), None)
    if scope.rooted and where is not None and where.text.startswith("/"):
        scope.folder = ""
    if where is None or where.why or scope.folder is None or where.text == "-":
        scope.folder = None
    else:
        import posixpath

        path = posixpath.normpath(posixpath.join(scope.folder, where.text.replace("\\", "/")))
        outside = path.startswith(("~", "..") if scope.rooted else ("/", "~", ".."))
        scope.folder = None if outside else "" if path == "." else path


def _popd(_reading: Reading, _words: list[Field], scope: Scope, _own: object, _at: object) -> None:
    scope.folder = None


def _exit(reading: Reading, _words: list[Field], scope: Scope, _own: object, _at: object) -> None:
    reading.ended = scope.sure and not scope.depth


def _unset(_reading: Reading, words: list[Field], scope: Scope, _own: object, _at: object) -> None:
    for one in words[1:]:
        if one.text in scope.names or one.text.isidentifier():
            scope.names[one.text] = (Field((), one.start, one.start),)
            scope.exported.pop(one.text, None)


def _read(_reading: Reading, words: list[Field], scope: Scope, _own: object, _at: object) -> None:
    for one in words[1:]:
        if one.text.isidentifier():
            scope.forget(one.text, f"`${one.text}` is read when it runs")


def _set(_reading: Reading, words: list[Field], scope: Scope, _own: object, _at: object) -> None:
    """`set -- a b` gives the arguments; other options do not change what is known."""
    texts = [one.text for one in words]
    if "--" in texts:
        scope.args = tuple(words[texts.index("--") + 1 :])


def _shift(_reading: Reading, words: list[Field], scope: Scope, _own: object, _at: object) -> None:
    count = int(words[1].text) if len(words) > 1 and words[1].text.isdigit() and len(words[1].text) < 4 else 1
    scope.args = scope.args[count:] if scope.args is not None else None


def _eval(reading: Reading, words: list[Field], scope: Scope, own: dict[str, Field], _at: object) -> None:
    """`eval "$cmd"`: the words once more as a command."""
    for name, one in own.items():
        scope.names[name] = (one,)
    reading.inner(*reading.texts.join(words[1:], scope), scope)


_BUILTINS = {
    "cd": _cd,
    "pushd": _cd,
    "popd": _popd,
    "exit": _exit,
    "unset": _unset,
    "read": _read,
    "set": _set,
    "shift": _shift,
    "eval": _eval,
}


def _command(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    if not is_test(syntax):
        simple(reading, syntax, scope, ())


KINDS = {"command": _command}
