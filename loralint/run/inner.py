"""Parts of a run that stand inside another file, such as a config in a ConfigMap: their source is that file."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.model import Note
from loralint.run.build import Part, file_faults
from loralint.source.document import Document, Mark
from loralint.source.encoded import WholePlaces
from loralint.source.inner import InnerDocument
from loralint.source.shown import shown


def encoded(parts: tuple[Part, ...]) -> Iterator[Note]:
    """That findings in what stands in base64 cannot say where in it they are."""
    for part in parts:
        one = part.document
        if isinstance(one, InnerDocument) and isinstance(one.places, WholePlaces):
            said = (
                f"`{shown(one.name)}` stands in base64, so a finding in it names the key and points at all of its text"
            )
            yield Note("info", said)


def settled(part: Part, outer: Document) -> Part:
    """The part with the file as its source, and with what is wrong with its text told beside the rest.

    outer: the file that the run starts from; a part of another file stays its own source there.
    """
    inner = part.source
    if part.source is outer:
        _narrowed(part)
        return part._replace(reader=part.reader._replace(documents=True))
    if not isinstance(inner, InnerDocument):
        return part
    faults = file_faults(inner, part.reader)
    _spanned(part, inner)
    _hushed(inner, outer)
    source = outer if inner.file == outer.file else inner
    return part._replace(
        source=source,
        reader=part.reader._replace(documents=True),
        observations=(*part.observations, *faults),
    )


def _narrowed(part: Part) -> None:
    """Variables stand here and there; their root reaches over these only, so that no other part lies in it."""
    root = part.document.root
    if part.kind == "env" and root is not None and root.pairs:
        starts = [pair.value.start for pair in root.pairs]
        ends = [pair.value.end for pair in root.pairs]
        root.move(Mark(min(starts), part.document.lines), Mark(max(ends), part.document.lines))


def _spanned(part: Part, inner: InnerDocument) -> None:
    """What a program makes reaches over the program, and not over the file around it."""
    root, pieces = part.document.root, inner.places.pieces
    if inner.format == "python" and root is not None and pieces:
        last = pieces[-1]
        root.move(inner.places.mark(pieces[0].at), inner.places.mark(last.at + last.length))


def _hushed(inner: InnerDocument, outer: Document) -> None:
    """Comments in the text that lift findings count as the file's own, once."""
    given = inner.comments()
    if given and inner.file == outer.file:
        known = {one.start for one in outer.comments()}
        outer.keep_comments([*outer.comments(), *(one for one in given if one.start not in known)])
