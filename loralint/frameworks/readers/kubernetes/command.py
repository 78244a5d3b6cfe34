"""What a container runs: its command and arguments as a shell and the kubelet take them, and the launches in that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.launch.programs import PYTHON
from loralint.frameworks.launched import Launch
from loralint.frameworks.readers.kubernetes.maps import ConfigMap, maps_of
from loralint.frameworks.readers.kubernetes.mounting import Absent
from loralint.frameworks.readers.kubernetes.tree import At, items, named, text
from loralint.frameworks.readers.kubernetes.variables import field_of, variables, working_folder
from loralint.source.command import Command, Files, Part, Word
from loralint.source.document import Document, Fault, Mark, Node
from loralint.source.inner import InnerPlaces, pieces_of, read_inner
from loralint.source.shell.commands import SHELLS
from loralint.source.shell.executed import read_executed
from loralint.source.shell.words import Field

_MOST = 2000  # words of one command
_LEFT = re.compile(r"\$(?:\{|[A-Za-z_])")
SEALED = "the words of the command are items of a list"


class Executed(NamedTuple):
    """document: the file that it stands in. launches: the training starts that are seen. commands: all that runs.
    shell: the scripts that it comes from. files: what these write themselves. why: why it could not be read. lacks: of
    a script that is called and not there, the word that names it.
    """

    document: Document
    launches: tuple[Launch, ...] = ()
    commands: tuple[Command, ...] = ()
    shell: str = ""
    files: tuple[Files, ...] = ()
    why: str = ""
    lacks: tuple[Absent, Word] | None = None


class Place(NamedTuple):
    """Where a container stands: the file, the pod's spec (None when another object has it), further maps at hand.

    entrypoint: the command, where the job has it and not the container; runtime: Ray's text with its variables;
    parameters: what templates in the container become, such as `{{inputs.parameters.x}}`.
    """

    document: Document
    pod: At | None = None
    maps: tuple[ConfigMap, ...] = ()
    namespace: str = ""
    entrypoint: At | None = None
    runtime: At | None = None
    parameters: tuple[tuple[str, Field], ...] = ()

    def all_maps(self) -> tuple[ConfigMap, ...]:
        """Those that were given first: what lays something over a map of the file counts."""
        return (*self.maps, *maps_of(self.document))


@lru_cache(maxsize=256)  # every question about a container asks for it again
def executed(container: At, place: Place) -> Executed:
    """What a container runs, as far as its command shows it."""
    given = words_of(container, place)
    if not given:
        return Executed(place.document)
    known = known_in(container, place)
    fields = [field_of(place.document, at.node, {**dict(place.parameters), **known}) for at in given]
    if place.entrypoint is not None:
        fields = by_shell(fields[0])
    elif named(container, "source") is not None and len(fields) == 2:
        fields = [fields[0], _option(fields[1]), fields[1]]
    elif not any(field.text.rpartition("/")[2] in SHELLS for field in fields):
        fields = [_unread(field) for field in fields]
    literal = [at.node for at in given if "\n" in at.node.raw]
    edited = len(literal) == 1 and pieces_of(place.document.text, literal[0])[1] and len(given) < 4
    shell = "\n".join(at.node.raw for at in given if re.search(r"[\s;&|]", at.node.raw))
    made = read_command(place.document, fields, known, working_folder(container), literal)
    for part in flags_of(made.launches):
        part.sealed = place.document.sealed or ("" if edited else SEALED)
    return made._replace(shell=shell)


def known_in(container: At, place: Place) -> dict[str, Field]:
    """The variables of a container, with those that Ray adds."""
    known = variables(place.document, container, place.all_maps(), place.namespace, dict(place.parameters))
    given = runtime_env(place).pair("env_vars") if place.runtime is not None else None
    for pair in given.value.pairs if given is not None else ():
        if pair.value.kind == "scalar":
            known[pair.key] = field_of(place.document, pair.value, {})
    return known


def runtime_env(place: Place) -> Node:
    """What Ray makes around its processes; an empty mapping where nothing is said."""
    made = read_inner(place.document, place.runtime.node, "runtime_env.yaml").root if place.runtime else None
    return made or Node("mapping", "map", Mark(0, place.document.lines), Mark(0, place.document.lines))


def words_of(container: At, place: Place) -> list[At]:
    """The scalars that make up the command, without what the image puts before where `command` is absent."""
    if place.entrypoint is not None:
        return [place.entrypoint] if text(place.entrypoint) else []
    found = [one for name in ("command", "args") for one in items(named(container, name))[:_MOST]]
    source = named(container, "source")
    if source is not None and text(source) and found:  # a script of Argo, which its command gets as a file
        base = text(found[0]).rpartition("/")[2]
        return [found[0], source] if base in SHELLS or PYTHON.fullmatch(base) else []
    return [one for one in found if one.node.kind == "scalar"]


def _option(script: Field) -> Field:
    return Field((Part("-c", script.start, script.start),), script.start, script.start)


def by_shell(script: Field, path: str = "sh", arguments: Sequence[Field] = ()) -> list[Field]:
    """The words that run a script by a shell, under a name and with arguments."""
    before = [Field((Part(word, script.start, script.start),), script.start, script.start) for word in ("sh", "-c")]
    own = Field((Part(path, script.start, script.start),), script.start, script.start)
    return [*before, script, own, *arguments]


def _unread(field: Field) -> Field:
    """A word with a dollar that no shell will ever see."""
    parts = tuple(
        part._replace(why=f"`{part.text[:60]}` is filled in before the manifest is applied, or not at all")
        if not part.why and _LEFT.search(part.text)
        else part
        for part in field.parts
    )
    return field._replace(parts=parts)


def read_command(
    document: Document, fields: list[Field], known: Mapping[str, Field], folder: str, scripts: list[Node]
) -> Executed:
    """Take a command apart. scripts: scalars in it that are shell scripts of several lines."""
    from loralint.frameworks.launch import launches

    try:
        shell = read_executed(document, fields, known, folder)
        faults = tuple(fault for node in scripts for fault in _faults(document, node))
        found = tuple(launches(shell._replace(faults=faults), document))
    except Fault as fault:
        return Executed(document, why=fault.message)
    return Executed(document, found, shell.commands, "", shell.files)


def _faults(document: Document, node: Node) -> Iterator[tuple[str, str, int, int]]:
    """What a shell would take otherwise than it looks, in a script that stands in a scalar."""
    from loralint.source.shell import read_shell

    places = InnerPlaces(document.file, document.lines, pieces_of(document.text, node)[0])
    for kind, message, start, end in read_shell(Document("", "shell", node.raw)).faults:
        yield kind, message, places.offset(start), places.end(end)


def flags_of(launches: tuple[Launch, ...]) -> Iterator[Document]:
    """The documents of flags of launches and of their launchers."""
    for launch in launches:
        yield launch.flags
        yield from (one.flags for one in launch.launchers)
