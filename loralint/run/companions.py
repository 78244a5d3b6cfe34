"""Files that a run reads because one of its parts names them, or the caller gave them, or by convention: pins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from loralint.frameworks.companions.references import Reference, references
from loralint.frameworks.detect import reader as reader_named
from loralint.model import Note, Unknown
from loralint.run.build import Part, Start
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.shown import shown

# A run names a handful of files; what names hundreds is hostile.
MOST = 32
# Kind of a reference -> (kind of the layer, module of its reader). Kinds that are not here are read by nobody yet.
_READERS = {
    "deepspeed": ("deepspeed", "deepspeed"),
    "accelerate": ("accelerate", "accelerate"),
}
# Framework -> module of the reader of its lists of training data.
_DATASETS = {
    "sd-scripts": "sd_scripts_dataset", "musubi-tuner": "musubi_dataset", "simpletuner": "simpletuner_data",
}  # fmt: skip


def joined(start: Start, options: Options, project: Project) -> Start:
    """The start with its companions. A file that is named and not there is told, since its values are unknown."""
    parts, notes = list(start.parts), list(start.notes)
    named = [(part, one) for part in start.parts for one in references(part.document, part.reader)]
    for part, one in islice(named, MOST):
        reader = _reader(one.kind, part)
        if reader is not None:
            _join(part, one, reader, project, parts, notes)
    for path in options.companions:
        parts += _given(path, project)
    return start._replace(parts=tuple(parts), notes=tuple(dict.fromkeys(notes)))


def _reader(kind: str, part: Part) -> tuple[str, str] | None:
    """Kind of the layer and module of the reader of what a part names; None for what nobody reads."""
    module = _DATASETS.get(part.reader.name) if kind == "dataset" else None
    return ("dataset", module) if module is not None else _READERS.get(kind)


def _join(
    part: Part, one: Reference, reader: tuple[str, str], project: Project, parts: list[Part], notes: list[Note]
) -> None:
    document = project.find(one.path, part.source.file)
    if document is not None:
        parts += _parts(document, *reader)
    elif one.value.span is not None:
        notes.append(missing(one.path))


def missing(path: str | Unknown) -> Note:
    """That a file which the run reads is not at hand."""
    told = f"`{shown(path)}` is not in the folder" if isinstance(path, str) else path.reason
    return Note("not-checked", f"what a file of the run says: {told}")


def _parts(document: Document, kind: str, module: str) -> Iterator[Part]:
    yield Part(kind, document, reader_named(module), document)


def _given(path: str, project: Project) -> Iterator[Part]:
    """A file of the caller's, which tells itself what it is."""
    from loralint.frameworks.detect import detect

    document = project.document(path, path)
    found = detect(document) if document.root is not None else None
    kind = next((kind for kind, module in _READERS.values() if found is not None and found.module == module), "config")
    if found is not None:
        yield from _parts(document, kind, found.module)
