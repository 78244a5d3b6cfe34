"""Files that a run reads because one of its parts names them, or the caller gave them, or by convention: pins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.frameworks.companions.references import Reference, references
from loralint.frameworks.detect import detect
from loralint.frameworks.detect import reader as reader_named
from loralint.model import Note, Unknown
from loralint.run.build import Part, Start
from loralint.run.options import Options
from loralint.run.project import Lookup
from loralint.source.shown import shown

if TYPE_CHECKING:
    from loralint.run.arguments import Variables

# A run names a handful of files; what names hundreds is hostile.
MOST = 32
# Kind of a reference -> (kind of the layer, module of its reader). Kinds that are not here are read by nobody yet.
_READERS = {
    "deepspeed": ("deepspeed", "deepspeed"),
    "accelerate": ("accelerate", "accelerate"),
    "fsdp": ("config", "fsdp"),
}
# Framework -> module of the reader of its lists of training data.
_DATASETS = {
    "sd-scripts": "sd_scripts_dataset", "musubi-tuner": "musubi_dataset", "simpletuner": "simpletuner_data",
    "diffusion-pipe": "diffusion_pipe_data", "finetrainers": "finetrainers_data",
}  # fmt: skip


def joined(start: Start, options: Options, files: Lookup) -> Start:
    """The start with its companions. A file that is named and not there is told, since its values are unknown."""
    parts, notes, pins = list(start.parts), list(start.notes), dict(start.pins)
    for path in options.companions:
        _give(path, files, parts, pins, notes)
    if options.env or options.companions:
        from loralint.run.surroundings import of_caller

        parts += (environment_part(one) for one in of_caller(options, files))
    for part in parts:  # which grows: a launcher's file names DeepSpeed's
        named = references(part.document, part.reader, calls=bool(part.names)) if len(parts) < MOST else ()
        for one in named:
            reader = _reader(one.kind, part)
            if reader is not None:
                _join(part, one, reader, files, parts, notes)
    return start._replace(parts=tuple(parts), notes=tuple(dict.fromkeys(notes)), pins=pins)


def _reader(kind: str, part: Part) -> tuple[str, str] | None:
    """Kind of the layer and module of the reader of what a part names; None for what nobody reads."""
    module = _DATASETS.get(part.reader.name) if kind == "dataset" else None
    return ("dataset", module) if module is not None else _READERS.get(kind)


def _join(
    part: Part, one: Reference, reader: tuple[str, str], files: Lookup, parts: list[Part], notes: list[Note]
) -> None:
    document = files.find(one.path, part.source.file)
    if document is not None:
        kind, module = reader
        known = any(other.source is document for other in parts)
        parts += [] if known else [Part(kind, document, reader_named(module), document)]
    elif one.value.span is not None:
        notes.append(missing(one.path))


def missing(path: str | Unknown) -> Note:
    """That a file which the run reads is not at hand."""
    told = f"`{shown(path)}` is not in the folder" if isinstance(path, str) else path.reason
    return Note("not-checked", f"what a file of the run says: {told}")


def environment_part(variables: Variables) -> Part:
    """What variables say by themselves, to launchers and trainers that know them."""
    from loralint.frameworks.companions.environment import READER as ENVIRONMENT

    return Part("env", variables.document, ENVIRONMENT, variables.source)


def _give(path: str, files: Lookup, parts: list[Part], pins: dict[str, str], notes: list[Note]) -> None:
    """A file of the caller's, which tells itself what it is: variables, pins, or what its keys say."""
    from loralint.frameworks.companions.dotenv import is_dotenv
    from loralint.frameworks.companions.pins import is_pins, read_pins

    if is_pins(path):
        pins |= {name: str(value.value) for name, value in read_pins(files.document(path, path)).exact.items()}
        return
    document = files.document(path, path)
    if is_dotenv(path):  # which `joined` adds with the caller's other variables
        return
    found = detect(document) if document.root is not None else None
    if found is not None:
        kind = next((kind for kind, module in _READERS.values() if module == found.module), "config")
        parts.append(Part(kind, document, reader_named(found.module), document))
        return
    why = next((one.message for one in document.problems), "it is no file of a run that is recognised")
    notes.append(Note("not-checked", f"what `{shown(path)}` says: {why}"))
