"""Here-documents: files that a script writes itself, and programs that it hands to an interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Files, Part
from loralint.source.shell.commands import simple
from loralint.source.shell.words import DOCUMENT_ESCAPES, Field, bounded, expand, joined, plain

if TYPE_CHECKING:
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

_WRITERS = frozenset({"cat", "tee"})
# Formats of printf that give a text as it is.
_FORMATS = frozenset({"%s", "%s\\n"})
_OUT = frozenset({">", ">>", ">|"})


def redirected(reading: Reading, syntax: Syntax, scope: Scope) -> None:
    """Follow a command with its redirections."""
    (body,), redirects = syntax.parts["body"], syntax.parts["redirects"]
    documents = [(one, found) for one in redirects if (found := document(one, scope)) is not None]
    if body.kind != "command":
        reading.run(body, scope)
    elif documents and _kept(reading, body, redirects, documents[0][1], scope):
        return
    elif documents or not _printed(reading, body, redirects, scope):
        texts = [one.parts["document"][0] for one, _ in documents]
        simple(reading, body, scope, tuple((one.text, one.start) for one in texts))


def _kept(reading: Reading, body: Syntax, redirects: list[Syntax], text: Field, scope: Scope) -> bool:
    """Whether the text goes to a file or, by `read`, into a variable."""
    words = [one for child in body.children for one in expand(child, scope)]
    if words and words[0].text == "read":
        names = [one.text for one in words[1:] if one.text.isidentifier()]
        scope.names.update(dict.fromkeys(names[-1:], (text,)))
        return bool(names)
    name = _written_to(words, redirects, scope)
    if name:
        _write(reading, name, text)
    return bool(name)


def _printed(reading: Reading, body: Syntax, redirects: list[Syntax], scope: Scope) -> bool:
    """Whether a text that was kept in a variable goes to a file: `printf "%s" "$SCRIPT" > run.py`, `echo "$X" > f`."""
    words = [one for child in body.children for one in expand(child, scope)]
    plain_format = len(words) == 3 and words[0].text == "printf" and words[1].text in _FORMATS
    if not plain_format and not (len(words) == 2 and words[0].text == "echo"):
        return False
    places = [one for redirect in redirects if redirect.text in _OUT for one in redirect.parts["to"]]
    named = [one.text for place in places for one in expand(place, scope)]
    if named and "\n" in words[-1].text:
        _write(reading, named[0], words[-1])
    return bool(named)


def _write(reading: Reading, name: str, text: Field) -> None:
    field = reading.texts.settle(text)
    moves, size = [], 0
    for part in field.parts:
        moves.append((size, part.start))
        size += len(part.text)
    aligned = len(moves) < 2
    reading.files.append(Files(name, field.text, moves[0][1] if moves else 0, () if aligned else tuple(moves)))


def _written_to(words: list[Field], redirects: list[Syntax], scope: Scope) -> str:
    """The file that `cat` or `tee` writes, with its variables filled in; "" for none or one that is not known."""
    if not words or words[0].text not in _WRITERS:
        return ""
    if words[0].text == "tee":
        named = [one for one in words[1:] if not one.text.startswith("-")]
    else:
        places = [one for redirect in redirects if redirect.text in _OUT for one in redirect.parts["to"]]
        named = [one for place in places for one in expand(place, scope)]
    return named[0].text if named else ""


def document(heredoc: Syntax, scope: Scope) -> Field | None:
    """What a here-document gives: variables are filled in unless its mark is quoted. None for other redirections."""
    body = heredoc.part("document")
    if body is None:
        return None
    if heredoc.parts["mark"][0].kind == "quoted":
        return Field((Part(body.text, body.start, body.end),), body.start, body.end, quoted=True)
    parts: list[Part] = []
    at = body.start
    for child in body.children:
        parts += plain(body.text[at - body.start : child.start - body.start], at, DOCUMENT_ESCAPES)
        parts += joined(child, scope).parts
        at = child.end
    parts += plain(body.text[at - body.start :], at, DOCUMENT_ESCAPES)
    return bounded(Field(tuple(parts), body.start, body.end, quoted=True))


KINDS = {"redirected_statement": redirected}
