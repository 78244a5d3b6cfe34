"""Training starts of a shell script: each launch with the script, configs and companions that it names."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.detect import reader as reader_named
from loralint.frameworks.flags import as_flags
from loralint.frameworks.launch import launches, reader_of, references
from loralint.frameworks.launched import Launch
from loralint.frameworks.table import Reader
from loralint.model import Note, Unknown
from loralint.run.assemble import config_start
from loralint.run.build import Part, Start
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.scripts import script_starts
from loralint.source.document import Document
from loralint.source.shell import read_shell
from loralint.source.shown import shown

# A script that starts more than this many runs is a sweep, of which the first few tell what there is to tell.
MOST = 16


def launch_starts(document: Document, options: Options, project: Project) -> list[Start]:
    """One for each launch of a script; several where a launched program trains several times."""
    found: list[Start] = []
    for launch in launches(read_shell(document), document)[:MOST]:
        found += _of(launch, document, options, project)
    return found


def _of(launch: Launch, document: Document, options: Options, project: Project) -> list[Start]:
    """The runs of one launch: those of the script or config that it names with its flags over them, else its flags."""
    notes: list[Note] = []
    named = list(_named(launch, document, project, notes))
    inner = [start for one in named for start in _inner(one, options)]
    module = reader_of(launch)
    flags = as_flags(reader_named(module)) if module else None
    starts = inner or (
        [Start((), flags, f"`{launch.program} {launch.subcommand}`".replace(" `", "`"))] if flags else []
    )
    return [_over(start, launch, flags, document, tuple(notes)) for start in starts]


def _inner(document: Document, options: Options) -> list[Start]:
    """What a file that a launch names would start by itself."""
    if document.format in ("python", "notebook"):
        return script_starts(document)
    start = config_start(document, options)
    return [start] if start is not None else []


def _named(launch: Launch, document: Document, project: Project, notes: list[Note]) -> Iterator[Document]:
    """The program's own config and script, where they lie in the project."""
    for kind, word in references(launch):
        if kind not in ("config", "script"):
            continue
        found = project.find(_under(launch, word.text), document.file) if isinstance(word.text, str) else None
        if found is not None:
            yield found
        elif kind == "config":
            notes.append(_missing(word.text))


def _under(launch: Launch, path: str) -> str:
    return f"{launch.folder}/{path}" if launch.folder and not path.startswith("/") else path


def _missing(text: str | Unknown) -> Note:
    told = f"`{shown(text)}` is not in the folder" if isinstance(text, str) else text.reason
    return Note("not-checked", f"the run's config: {told}, so what it says is unknown")


def _over(start: Start, launch: Launch, flags: Reader | None, document: Document, notes: tuple[Note, ...]) -> Start:
    """The start with the flags and the launchers' own options over what it had."""
    reader = flags or as_flags(start.reader)
    parts = [Part("flags", launch.flags, reader, document), *start.parts]
    parts += [
        Part("launcher", one.flags, as_flags(reader_named(one.name)), document)
        for one in launch.launchers
        if one.name in _LAUNCHERS
    ]
    launchers = tuple(one.name for one in launch.launchers)
    return start._replace(
        parts=tuple(parts), launchers=launchers, notes=(*start.notes, *notes), open=start.open or _open(launch)
    )


_LAUNCHERS = frozenset({"accelerate"})


def _open(launch: Launch) -> str:
    """Why flags may be given that do not stand here."""
    hidden = next((word.text for word in launch.positionals if isinstance(word.text, Unknown)), None)
    return hidden.reason if hidden is not None else ""
