"""From one config file to the run that it starts: which reader, which companions."""

from __future__ import annotations

from loralint.frameworks.detect import Detection, by_name, detect, looks_like_run, reader
from loralint.frameworks.key_list import key_list
from loralint.frameworks.table import Reader
from loralint.run.build import Assembled, Part, Start, build
from loralint.run.options import Options
from loralint.source.document import Document


def assemble(document: Document, options: Options) -> Assembled | None:
    """The run that this file starts, or None when it starts none. A broken file is a run when it looks like one."""
    found = config_start(document, options)
    return build(found, options) if found is not None else None


def config_start(document: Document, options: Options, *, known: bool = False) -> Start | None:
    """What a config file starts, by itself. known: the framework's own program reads it, whatever stands in it."""
    found = _recognise(document, options)
    if found is None:
        return None
    table = reader(found.module)
    other = "" if known or options.framework else _program_of_its_own(document, table)
    if other:
        from loralint.frameworks.strangers import in_own_words

        table = in_own_words(table)._replace(keys="", guessed=True, partial=lambda _document: other)
    pins = table.pins(document) if table.pins and document.root else {}
    return Start((Part("config", document, table, document),), table, found.reason, pins)


def _program_of_its_own(document: Document, table: Reader) -> str:
    """See `strangers`, which few formats need and nothing else loads."""
    if not table.keys or "akin" not in key_list(table.keys):
        return ""
    from loralint.frameworks.strangers import program_of_its_own

    return program_of_its_own(document, table)


def _recognise(document: Document, options: Options) -> Detection | None:
    if options.framework:
        return Detection(options.framework, by_name(options.framework, document), "--framework")
    if document.root is not None or (document.roots and not document.problems):
        return detect(document)
    name = looks_like_run(document.own) if document.problems else ""
    return Detection(name, by_name(name, document), "its text looks like one") if name else None
