"""From one document to one run: which reader, which layers, which versions. Companion files join here."""

from typing import NamedTuple

from loralint.frameworks.detect import Detection, by_name, detect, looks_like_run, reader
from loralint.frameworks.read import read_layer
from loralint.frameworks.table import Look, Reader
from loralint.model import Event, Note, Observation, Span, Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import versions_of
from loralint.source.document import Document

_CRASHES = frozenset(
    {"syntax", "encoding", "too-deep", "too-many-nodes", "too-many-aliases", "cyclic", "control-character"}
)


class Assembled(NamedTuple):
    """A run ready to be judged. reason: why this framework. documents: its files, the one that starts it first."""

    config: Config
    observations: tuple[Observation, ...]
    reason: str
    documents: tuple[Document, ...]
    events: tuple[Event, ...] = ()
    notes: tuple[Note, ...] = ()


def assemble(document: Document, options: Options) -> Assembled | None:
    """The run that this file starts, or None when it starts none. A broken file is a run when it looks like one."""
    found = _recognise(document, options)
    if found is None:
        return None
    table = reader(found.module)
    pinned = {**(table.pins(document) if table.pins and document.root else {}), **options.targets}
    versions = versions_of(table.name, pinned)
    layer = read_layer(document, table, Look(_unread, versions.satisfy))
    config = Config(table, (layer,), options, versions)
    config.add_rows(_rows)
    return Assembled(config, (*layer.observations, *_file_faults(document, table)), found.reason, (document,))


def _rows(config: Config) -> Value | None:
    from loralint.run.rows import local_rows

    return local_rows(config, config.layers[0].document.file)


def _recognise(document: Document, options: Options) -> Detection | None:
    if options.framework:
        return Detection(options.framework, by_name(options.framework, document), "--framework")
    if document.root is not None:
        return detect(document)
    name = looks_like_run(document.text) if document.problems else ""
    return Detection(name, by_name(name, document), "its text looks like one") if name else None


def _unread(field: str) -> Value:
    """Nothing is effective while a file is being read; defaults ask the config itself, later."""
    return Value(None, origin="absent", field=field)


def _file_faults(document: Document, table: Reader) -> list[Observation]:
    """What is wrong with the file as a whole."""
    faults = [
        Observation(
            problem.kind,
            Value(None, span=problem.span, key=""),
            "crash" if problem.kind in _CRASHES else "lost",
            problem.message,
        )
        for problem in document.problems
    ]
    if len(document.roots) > 1 and document.format == "yaml" and not table.documents:
        second = document.roots[1]
        span = Span(document.file, second.start, second.start, second.line, second.column, second.line, second.column)
        message = f"{table.title} loads one document a file"
        faults.append(Observation("several-documents", Value(None, span=span), "crash", message))
    return faults
