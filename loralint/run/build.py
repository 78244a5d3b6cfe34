"""From the parts of one training start to its effective configuration."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from loralint.frameworks.read import read_layer
from loralint.frameworks.table import Layer, Look, Reader
from loralint.model import Event, Note, Observation, Span, Unknown, Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import Versions, versions_of
from loralint.source.document import Document

if TYPE_CHECKING:
    from loralint.run.project import Lookup
    from loralint.source.script import Argument

# What the trainer's own loader stops at, too; what only our limits stop at may well train.
_CRASHES = frozenset({"syntax", "encoding", "cyclic", "control-character"})

# What a report says of where a value comes from, by the kind of the part that has it.
_ORIGINS = {
    "flags": "flag", "launcher": "flag", "env": "env", "deepspeed": "companion", "accelerate": "companion",
    "dataset": "companion",
}  # fmt: skip


class Assembled(NamedTuple):
    """A run ready to be judged. reason: why this framework. documents: its files, the one that starts it first."""

    config: Config
    observations: tuple[Observation, ...]
    reason: str
    documents: tuple[Document, ...]
    events: tuple[Event, ...] = ()
    notes: tuple[Note, ...] = ()


class Part(NamedTuple):
    """One thing that a training start reads. kind: as of a Layer; source: the file as it was read.

    observations, events: what was seen in it besides its settings. arguments: what a script takes from its command
    line, with defaults. assumed: places of values that a command line may overrule, which nobody has seen. names: for
    flags that a script hands on, the key where each arrives -> the flag; then nothing else is this part's. beside:
    nobody names the file, and it is assumed to be meant. own: of a script, as of a Reader: keys that it takes itself.
    takes: of a script, as of a Launch: the flags beside which it refuses any other. switches, filled, fired: likewise.
    parsed: of a script, sections of a library's classes that its command line fills; seen: its reader where all of that
    line is known. loads: files of variables that a script loads itself. reads: how the script's parser takes a file of
    settings, "under" the flags or "alone", "" where it is not seen to take one, "hydra" where
    what it makes of the whole line is seen; handed: the files that it takes.
    without: as of a Layer. placed: of a script, that it makes an adapter's config whatever its settings are.
    """

    kind: str
    document: Document
    reader: Reader
    source: Document
    observations: tuple[Observation, ...] = ()
    events: tuple[Event, ...] = ()
    arguments: "tuple[Argument, ...]" = ()
    assumed: frozenset[tuple[str, int]] = frozenset()
    names: Mapping[str, str] = {}
    beside: bool = False
    own: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    filled: str = ""
    fired: frozenset[str] = frozenset()
    parsed: tuple[str, ...] = ()
    seen: Reader | None = None
    loads: tuple[Document, ...] = ()
    reads: str = ""
    handed: tuple[Document, ...] = ()
    without: frozenset[str] = frozenset()
    placed: bool = False


class Start(NamedTuple):
    """One training start. parts: strongest first where nothing else is known of their kinds. reader: the framework's
    own, whose defaults hold. reason: why it.

    pins: package -> version that its files fix. open: why what is in no part may be set all the same. launchers:
    the programs that start the processes (accelerate, torchrun, deepspeed), outermost first. files: where what its
    parts name is looked for, None for the project. modules: files that its program imports, or that its config
    builds on, and that are no runs of their own.
    """

    parts: tuple[Part, ...]
    reader: Reader
    reason: str
    pins: Mapping[str, str] = {}
    notes: tuple[Note, ...] = ()
    open: str = ""
    launchers: tuple[str, ...] = ()
    files: "Lookup | None" = None
    modules: tuple[str, ...] = ()


def build(start: Start, options: Options) -> Assembled:
    """The run, ready to be judged."""
    versions = versions_of(start.reader.name, {**start.pins, **options.targets})
    look = Look(_unread, versions.satisfy)
    layers, overruled = _settled([_layer(part, look) for part in start.parts], start, versions)
    config = Config(start.reader, layers, options, versions, start.open)
    config.add("run.rows", _rows)
    sources: dict[str, tuple[Document, Reader]] = {}
    for part in start.parts:
        sources.setdefault(part.source.file, (part.source, part.reader))
    documents = tuple(source for source, _ in sources.values())
    observations = [
        *(one for one in overruled if not _is_default(one, config)),
        *(one for layer in layers for one in layer.observations),
        *(fault for source, reader in sources.values() for fault in file_faults(source, reader)),
    ]
    events = tuple(event for layer in layers for event in layer.events)
    return Assembled(config, tuple(_once(observations)), start.reason, documents, events, start.notes)


def _once(observations: list[Observation]) -> list[Observation]:
    """The same, with a secret that several parts read at one place told by the last, whose format it is."""
    secrets = [one for one in observations if one.kind == "secret"]
    if len(secrets) < 2:
        return observations
    last = {(one.value.span.file, one.value.span.start) if one.value.span else id(one): id(one) for one in secrets}
    return [one for one in observations if one.kind != "secret" or id(one) in last.values()]


def _is_default(told: Observation, config: Config) -> bool:
    """Whether what loses against the program's default may well say the same as that, which is no news."""
    default = config.get(told.value.field).value if told.other is None else None
    return isinstance(default, Unknown) or (default is not None and default == told.value.value)


def _rows(config: Config) -> Value | None:
    from loralint.run.rows import local_rows

    return local_rows(config, config.main.document.file)


def _layer(part: Part, look: Look) -> Layer:
    layer = read_layer(part.document, part.reader, look)
    values, origin = layer.values, "inherited" if part.beside else _ORIGINS.get(part.kind)
    if part.without:
        values = {field: several for field, several in values.items() if field not in part.without}
    if origin is not None:
        values = {field: tuple(_from(one, origin) for one in several) for field, several in values.items()}
    if part.names:
        values = {field: tuple(_named(several, part.names)) for field, several in values.items()}
    if part.assumed:
        values = {field: tuple(_assumed(one, part.assumed) for one in several) for field, several in values.items()}
    told = (*(one for one in layer.observations if one.kind != "secret" or not part.names), *part.observations)
    return layer._replace(kind=part.kind, values=values, observations=told, events=part.events, without=part.without)


def _named(several: Iterable[Value], names: Mapping[str, str]) -> Iterator[Value]:
    for one in several:
        if name := names.get(one.key):
            yield one._replace(key=name, pointer=f"/{name}")


def _assumed(value: Value, places: frozenset[tuple[str, int]]) -> Value:
    """The default of an argument: it counts unless the command line says otherwise."""
    here = value.span is not None and (value.span.file, value.span.start) in places
    return value._replace(origin="inherited") if here else value


def _from(value: Value, origin: str) -> Value:
    return value._replace(origin=origin) if value.origin == "set" else value


def _settled(layers: list[Layer], start: Start, versions: Versions) -> tuple[tuple[Layer, ...], list[Observation]]:
    """The layers by precedence, without what counts for nothing, and what is to be told of that."""
    if len(layers) == 1:
        return tuple(layers), []
    from loralint.frameworks.companions.settle import settle

    return settle(layers, start.reader.name, start.launchers, versions.satisfy)


def _unread(field: str) -> Value:
    """Nothing is effective while a file is being read; defaults ask the config itself, later."""
    return Value(None, origin="absent", field=field)


def file_faults(document: Document, table: Reader) -> list[Observation]:
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
