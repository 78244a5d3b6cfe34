"""New texts of files as edits that an editor makes, as small as their lines allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from lsprotocol import types

from loralint.lsp.places import Places

_COMPARED = 2000  # lines; comparing takes the square of it at worst


def workspace_edit(
    before: Mapping[str, str], after: Mapping[str, str], places: Places, *, versioned: bool
) -> types.WorkspaceEdit:
    """before, after: file -> text. versioned: the editor refuses edits of a version that it no longer has."""
    edits = {file: list(_edits(before[file], text, file, places)) for file, text in after.items()}
    if not versioned:
        return types.WorkspaceEdit(changes={places.uri(file): several for file, several in edits.items()})
    changes = [
        types.TextDocumentEdit(
            types.OptionalVersionedTextDocumentIdentifier(places.uri(file), places.version(file)), several
        )
        for file, several in edits.items()
    ]
    return types.WorkspaceEdit(document_changes=changes)


def _edits(before: str, after: str, file: str, places: Places) -> Iterator[types.TextEdit]:
    for start, end, text in changed(before, after):
        yield types.TextEdit(places.of(file).range(start, end), text)


def changed(before: str, after: str) -> Iterator[tuple[int, int, str]]:
    r"""(start, end, new text) of every stretch that differs, in order; offsets count in `before`.

    >>> list(changed("a: 1\nb: 2\n", "a: 1\nb: 30\n"))
    [(8, 9, '30')]
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) + len(new) > _COMPARED:
        yield from _trimmed(before, after, 0)
        return
    at = [0]
    for line in old:
        at.append(at[-1] + len(line))
    for kind, one, two, three, four in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from _trimmed("".join(old[one:two]), "".join(new[three:four]), at[one])


def _trimmed(before: str, after: str, at: int) -> Iterator[tuple[int, int, str]]:
    """The one stretch outside of which both are equal; a CR LF is never cut in two."""
    start, least = 0, min(len(before), len(after))
    while start < least and before[start] == after[start]:
        start += 1
    start -= start > 0 and before[start - 1] == "\r"
    end = 0
    while end < least - start and before[-end - 1] == after[-end - 1]:
        end += 1
    end -= end > 0 and before[len(before) - end] == "\n" and "\r" in (before[-end - 1 :][:1], after[-end - 1 :][:1])
    if before != after:
        yield at + start, at + len(before) - end, after[start : len(after) - end]
