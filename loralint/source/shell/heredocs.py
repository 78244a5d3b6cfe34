"""Here-documents: files that a script writes itself, and programs that it hands to an interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Files, Part
from loralint.source.shell.commands import simple
from loralint.source.shell.words import DOCUMENT_ESCAPES, Field, bounded, expand, joined, plain

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.shell.grammar import Tree
    from loralint.source.shell.reading import Reading
    from loralint.source.shell.scope import Scope

_WRITERS = frozenset({"cat", "tee"})
_EXPANSIONS = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})


def redirected(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """Follow a command with its redirections."""
    body = syntax.child_by_field_name("body")
    redirects = [child for child in syntax.children if child.type.endswith("_redirect")]
    heredocs = [child for child in redirects if child.type == "heredoc_redirect"]
    nested = [child for one in heredocs for child in one.children]  # `cat <<EOF > file`, `cat <<EOF | python -`
    redirects += [child for child in nested if child.type == "file_redirect"]
    documents = [found for one in heredocs if (found := document(tree, one, scope)) is not None]
    if body is not None and body.type == "command":
        if not documents or not _kept(reading, tree, body, redirects, documents[0], scope):
            simple(reading, tree, body, scope, tuple((tree.text(one.start, one.end), one.start) for one in documents))
    elif body is not None:
        reading.run(tree, body, scope)
    for child in nested:
        if child.type in {"pipeline", "command", "list"}:
            reading.run(tree, child, scope)


def _kept(reading: Reading, tree: Tree, body: Syntax, redirects: list[Syntax], text: Field, scope: Scope) -> bool:
    """Whether the text goes to a file or, by `read`, into a variable."""
    words = [one for child in body.children if child.type != "file_redirect" for one in expand(tree, child, scope)]
    if words and words[0].text == "read":
        names = [one.text for one in words[1:] if one.text.isidentifier()]
        scope.names.update(dict.fromkeys(names[-1:], (text,)))
        return bool(names)
    name = _written_to(tree, words, redirects, scope)
    if name:
        field = reading.texts.settle(text)
        moves, size = [], 0
        for part in field.parts:
            moves.append((size, part.start))
            size += len(part.text)
        aligned = len(moves) < 2
        reading.files.append(Files(name, field.text, moves[0][1] if moves else 0, () if aligned else tuple(moves)))
    return bool(name)


def _written_to(tree: Tree, words: list[Field], redirects: list[Syntax], scope: Scope) -> str:
    """The file that `cat` or `tee` writes, with its variables filled in; "" for none or one that is not known."""
    if not words or words[0].text not in _WRITERS:
        return ""
    if words[0].text == "tee":
        named = [one for one in words[1:] if not one.text.startswith("-")]
    else:
        named = [
            one
            for redirect in redirects
            if redirect.type == "file_redirect" and any(child.type in {">", ">>", ">|"} for child in redirect.children)
            for destination in redirect.children_by_field_name("destination")
            for one in expand(tree, destination, scope)
        ]
    return named[0].text if named else ""


def document(tree: Tree, heredoc: Syntax, scope: Scope) -> Field | None:
    """What a here-document gives: variables are filled in unless its mark is quoted."""
    body = next((child for child in heredoc.children if child.type == "heredoc_body"), None)
    mark = next((child for child in heredoc.children if child.type == "heredoc_start"), None)
    if body is None or mark is None:
        return None
    start, end = _bounds(tree, heredoc, body)
    if set(tree.of(mark)) & set("'\"\\"):
        return Field((Part(tree.text(start, end), start, end),), start, end, quoted=True)
    parts: list[Part] = []
    at = start
    for child in body.children:
        if child.type in _EXPANSIONS:
            parts += plain(tree, at, tree.at(child.start_byte), DOCUMENT_ESCAPES)
            parts += joined(tree, child, scope).parts
            at = tree.at(child.end_byte)
    parts += plain(tree, at, end, DOCUMENT_ESCAPES)
    return bounded(Field(tuple(parts), start, end, quoted=True))


def _bounds(tree: Tree, heredoc: Syntax, body: Syntax) -> tuple[int, int]:
    """From the line behind the mark to the closing one: the tree leaves out blank lines at the start."""
    closing = next((child for child in heredoc.children if child.type == "heredoc_end"), None)
    end = tree.at(closing.start_byte) if closing is not None else tree.at(body.end_byte)
    first = tree.at(body.start_byte)
    while first > tree.start and tree.text(first - 1, first) in " \t":
        first -= 1
    return first, end


KINDS = {"redirected_statement": redirected}
