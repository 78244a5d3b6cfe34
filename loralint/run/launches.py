"""Training starts of a shell script: each launch with the script, configs and companions that it names."""

from __future__ import annotations

import re
from collections.abc import Callable

from loralint.frameworks.companions.environment import environment
from loralint.frameworks.companions.installed import installed
from loralint.frameworks.detect import reader as reader_named
from loralint.frameworks.flags import as_flags
from loralint.frameworks.launch import accepted, launches, reader_for, references, watched
from loralint.frameworks.launch.aside import aside
from loralint.frameworks.launch.strict import declared
from loralint.frameworks.launched import Launch
from loralint.frameworks.leaks import leaks
from loralint.frameworks.readers.generic import placed
from loralint.frameworks.table import Reader
from loralint.model import Note, Unknown
from loralint.run.arguments import Given, Variables, filled, others, parsed, unheard
from loralint.run.assemble import config_start
from loralint.run.build import Part, Start
from loralint.run.companions import environment_part, missing
from loralint.run.composed import with_defaults
from loralint.run.hydra import hydra_line
from loralint.run.inner import settled
from loralint.run.modules import is_known, launched_module
from loralint.run.options import Options
from loralint.run.project import Lookup, Project
from loralint.run.remembered import launched_starts
from loralint.run.scheduled import scheduled
from loralint.run.scripted import as_settings, together, unrecognised, unseen_file
from loralint.run.scripts import Imported, Opened, alone, script_starts, speaks_of_training
from loralint.run.surroundings import of_caller, sourced
from loralint.run.written import Written
from loralint.source.command import Shell, Word
from loralint.source.document import Document, Mark, Node, Pair
from loralint.source.overrides import Line
from loralint.source.shell import read_shell
from loralint.source.shown import shown

# A script that starts more than this many runs is a sweep, of which the first few tell what there is to tell.
MOST = 16
# Launchers whose own options have a reader (in frameworks.readers.launch).
_READ = frozenset({"accelerate", "torchrun", "deepspeed"})
# What says of a program that it starts more processes, and variables that say it is one of several.
_SPAWNS = re.compile(r"notebook_launcher|\.spawn\(|multiprocess|mp\.Process|launch_agent|debug_launcher")
_RANKS = frozenset({"WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR"})
# Programs of Slurm that take the options of its directives.
_SLURM = frozenset({"srun", "salloc"})
# Readers of flags that know those of the libraries' own classes.
_LIBRARIES = frozenset({"transformers", "trl"})


def launch_starts(document: Document, options: Options, project: Project) -> list[Start]:
    """One for each launch of a script; several where a launched program trains several times."""
    shell = read_shell(document)
    return launched(shell, Written(document, shell.files, project), document, options)


def launched(shell: Shell, files: Written, document: Document, options: Options) -> list[Start]:
    """The runs of what a shell is seen to launch. files: those that the script writes, over the project's."""
    found: list[Start] = []
    for launch in launches(shell, document)[:MOST]:
        seen = files.at(launch.folder, launch.offset)
        read = tuple(sourced(shell, launch.offset, seen, document.file))
        several = of_launch(
            launch, document, options, _finder(seen, document), (*read, *of_caller(options, seen)), seen
        )
        parts = tuple(map(environment_part, read))
        found += [start._replace(files=seen, parts=(*start.parts, *parts)) for start in several]
    found += _inline(shell, files, document, options)
    found = _telling(scheduled(found, document), shell, document)
    pins = installed(shell.commands)
    return [_own(start, document)._replace(pins={**pins, **start.pins}) for start in found]


def _telling(found: list[Start], shell: Shell, document: Document) -> list[Start]:
    """The starts, the first of which tells what is wrong with the script besides its launches."""
    told = tuple(aside(shell, document)) if found else ()
    if not told:
        return found
    head, *parts = found[0].parts
    return [found[0]._replace(parts=(head._replace(observations=(*head.observations, *told)), *parts)), *found[1:]]


def _inline(shell: Shell, files: Written, document: Document, options: Options) -> list[Start]:
    """The runs of programs that stand in the script itself; a notebook's own cells are not among them.

    What Python cannot read is not told: a shell may have made something else of it.
    """
    if "python" not in document.text or document.format in ("python", "notebook"):
        return []
    from loralint.frameworks.launch.inline import inline_programs

    programs = list(inline_programs(document, shell.commands))[:MOST]
    several = [start for one in programs for start in script_starts(one) if not one.problems]
    return [alone(start, options, files) for start in several]


def _own(start: Start, document: Document) -> Start:
    """The start with the script as the source of the parts that stand in it."""
    return start._replace(parts=tuple(settled(part, document) for part in start.parts))


# Finds what a launch names, given its kind and how it is written: the file, or why nobody can look into it.
Find = Callable[[str, Word], Document | Note | None]


def _finder(files: Written, document: Document) -> Find:
    def find(kind: str, word: Word) -> Document | Note | None:
        if isinstance(word.text, Unknown):
            return missing(word.text) if kind == "config" else None
        found = files.find(word.text, document.file)
        return missing(word.text) if found is None and kind == "config" else found

    return find


def of_launch(
    launch: Launch, document: Document, options: Options, find: Find, around: tuple[Variables, ...], files: Lookup
) -> list[Start]:
    """The runs of one launch: those of the script or config that it names with its flags over them, else its flags.

    around: variables that it gets besides its own, which scripts may read. files: where their imports are looked for.
    """
    given = [(kind, find(kind, word)) for kind, word in references(launch) if kind in ("config", "preset", "script")]
    module = launched_module(launch, document, files)
    given += [("script", module)] if module is not None else []
    notes = tuple(one for _, one in given if isinstance(one, Note))
    documents = [one for _, one in given if isinstance(one, Document)]
    launch = launch._replace(declared=declared(launch, [one.text for one in documents if one.format == "python"]))
    if any(kind == "preset" for kind, _ in given):
        over = [one for kind in ("config", "preset") for has, one in given if has == kind and isinstance(one, Document)]
        found = _layered(over, options)
    else:
        opened = None if _overrides(launch) else _opened(find, document)
        line = hydra_line(launch, document, files)
        found = _found(launch, documents, options, opened, files.module, line)
    script = next((part for start in found for part in start.parts), None)
    if script is not None:
        launch = launch._replace(takes=script.takes, switches=script.switches, filled=script.filled, fired=script.fired)
    hidden = next((one.message for kind, one in given if kind == "config" and isinstance(one, Note)), _open(launch))
    hidden = hidden or (_unseen_config(launch) if not any(kind == "config" for kind, _ in given) else "")
    found = [unseen_file(start, hidden) for start in found]
    flags = reader_for(launch, () if found else [one.text for one in documents if one.format == "python"])
    if not found and flags is not None:
        unseen = "a config is not at hand" if any(kind == "config" for kind, _ in given) else ""
        found = [Start((), flags, f"`{launch.program} {launch.subcommand}".strip() + "`", open=unseen)]
    own = (module.file,) if module is not None else ()
    return [
        _over(start, launch, flags, document, around)._replace(
            notes=(*start.notes, *notes), modules=(*start.modules, *own)
        )
        for start in found
    ]


def _overrides(launch: Launch) -> bool:
    """Whether words such as `optim.lr=1e-4` change what a program loads from its own files."""
    root = launch.flags.root
    settings = [pair for pair in root.pairs if not pair.key_node.raw.startswith("-")] if root is not None else []
    return launch.program == "python" and bool(settings or any("=" in word.raw for word in launch.positionals))


def _opened(find: Find, document: Document) -> Opened:
    """How a launched program finds the files that it opens."""
    place = Mark(0, document.lines)

    def opened(name: str) -> Document | None:
        found = find("script", Word(name, Node("scalar", "str", place, place, name, native=name)))
        return found if isinstance(found, Document) else None

    return opened


def _found(
    launch: Launch, documents: list[Document], options: Options, opened: Opened | None, imported: Imported, line: Line
) -> list[Start]:
    """What the files that a launch names start: the first config together with the script that reads it, or either."""
    programs = [one for one in documents if one.format in ("python", "notebook")]
    theirs = [one for one in programs if not is_known(launch) or speaks_of_training(one.text)]
    scripts = [start for one in theirs for start in launched_starts(one, opened, imported, line)]
    files = [one for one in documents if one not in programs]
    files += [one for start in scripts[:1] for one in start.parts[0].handed if one not in files]
    own = launch.program != "python"
    configs = [start for one in files if (start := config_start(one, options, known=own)) is not None]
    configs = [one for one in configs if one.reader.name != "accelerate"]  # it is for the launcher, wherever it stands
    configs = [with_defaults(one, one.parts[0].source, line.files) for one in configs]
    foreign = bool(programs) and launch.program == "python" and not options.framework
    if not configs:
        return [unrecognised(files[0], one) for one in scripts] if foreign and files else scripts
    return [together(config, scripts) if foreign else config for config in configs]


def _layered(files: list[Document], options: Options) -> list[Start]:
    """The run of a config over a preset, either of which may say too little to be recognised by itself."""
    start = next((start for one in files if (start := config_start(one, options)) is not None), None)
    if start is None:
        return []
    return [start._replace(parts=tuple(Part("config", one, start.reader, one) for one in files))]


def _over(
    start: Start, launch: Launch, flags: Reader | None, document: Document, around: tuple[Variables, ...]
) -> Start:
    """The start with the flags, the variables and the launchers' own options over what it had."""
    left = accepted(launch)
    if any(part.reads in ("alone", "hydra") for part in start.parts):
        left = unheard(left)
    beside = flags is not None or any(part.kind == "config" for part in start.parts)
    start = _seen(start) if _whole(launch) and (flags is None or flags.name in _LIBRARIES) else start
    given = Given(left, document, bool(_open(launch)))
    env = (Variables(_variables(launch, document), document),) if launch.env else ()
    own: list[Part] = []
    for part in start.parts:
        left = others(part, left)
        own += [] if beside else parsed(part, given)
        own += filled(part, given, (*env, *around)) if part.arguments else [as_settings(part)]
    config = next((part for part in start.parts if part.kind == "config"), None)
    keys = config.reader if config is not None else start.reader
    reader = flags or watched(as_flags(keys._replace(own=keys.own | _naming(launch))), launch)
    if reader.name == "generic" and "peft" in start.reader.kin:
        reader = placed(reader, sure=any(part.placed for part in start.parts))
    without = config.without if config is not None else frozenset()
    parts = [Part("flags", left, reader, document, tuple(leaks(launch.flags)), without=without)]
    parts += [*map(environment_part, env), *own]
    if _alone(launch, own):
        parts.append(Part("launcher", launch.flags, reader_named("launch.alone"), document))
    for one in launch.launchers:
        if one.name in _READ:
            parts.append(Part("launcher", one.flags, reader_named(f"launch.{one.name}"), document))
        elif one.name in _SLURM:
            parts.append(Part("manifest", one.flags, reader_named("launch.scheduler"), document))
    by_script = flags is not None and ":" in flags.keys and flags.name == start.reader.name
    return start._replace(
        parts=tuple(parts),
        reader=flags if flags is not None and by_script else start.reader,  # it knows what the script itself decides
        launchers=tuple(one.name for one in launch.launchers),
        open=start.open or _open(launch),
    )


def _alone(launch: Launch, parts: list[Part]) -> bool:
    """Whether a program is started as one process: Python by itself, and a text that is seen to start no others."""
    programs = [part.source.text for part in parts if part.kind == "script"]
    told = {one.name for one in launch.env} & _RANKS
    plain = launch.program == "python" and not (launch.launchers or told)
    return plain and bool(programs) and not any(_SPAWNS.search(text) for text in programs)


def _whole(launch: Launch) -> bool:
    """Whether the flags are all that the script is given: no file of settings, no word unseen, no fault."""
    root = launch.flags.root
    return not (launch.positionals or launch.faults) and root is not None and root.pair("config") is None


def _seen(start: Start) -> Start:
    """The start of a script whose whole command line is known."""
    seen = next((part.seen for part in start.parts if part.seen is not None), None)
    if seen is None or any(part.kind == "config" for part in start.parts):
        return start
    parts = tuple(part._replace(reader=part.seen or part.reader) for part in start.parts)
    return start._replace(parts=parts, reader=seen)


def _naming(launch: Launch) -> frozenset[str]:
    """The flags by which a launch names its files, which a parser takes off before anything else."""
    files = {word.node.start for _, word in references(launch)}
    root = launch.flags.root
    return frozenset(pair.key for pair in root.pairs if pair.value.start in files) if root is not None else frozenset()


def _variables(launch: Launch, document: Document) -> Document:
    pairs = [Pair(one.name, _name(one.name, one.word.node, document), one.word.node) for one in launch.env]
    return environment(document, pairs)


def _name(name: str, value: Node, document: Document) -> Node:
    """The name in front of the value, where it is written so."""
    start = document.text.rfind(name, 0, value.start)
    end = start + len(name) if start >= 0 else value.start
    return Node("scalar", "str", Mark(max(start, 0), document.lines), Mark(end, document.lines), name)


def _unseen_config(launch: Launch) -> str:
    """Why a script may be given a file by a flag whose word is no name of one."""
    given = launch.flags.root.get("config") if launch.flags.root is not None else None
    return "" if given is None else f"what `{shown(given.raw)}` says: the file is not seen"


def _open(launch: Launch) -> str:
    """Why flags may be given that do not stand here."""
    hidden = next((word.text for word in launch.positionals if isinstance(word.text, Unknown)), None)
    return hidden.reason if hidden is not None else ""
