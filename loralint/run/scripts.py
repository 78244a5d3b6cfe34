"""Training starts of a Python program or a notebook."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator

from loralint.frameworks.table import ANY, Reader
from loralint.run.build import Part, Start
from loralint.run.on_modal import on_modal
from loralint.run.options import Options
from loralint.run.project import Lookup
from loralint.run.thin import STARTS, leads
from loralint.source.document import Document, Mark, Node
from loralint.source.inner import InnerDocument
from loralint.source.overrides import Line
from loralint.source.script import Script

# Gives the file that a program means by a name; by an import: its dotted name, the dots before it, the file it is in.
Opened = Callable[[str], Document | None]
Imported = Callable[[str, int, str], Document | None]

# A program that trains adapters speaks of one of these; every other one is not even parsed.
WORDS = ("peft", "lora", "trl", "unsloth", "bitsandbytes", "TrainingArguments", "BitsAndBytesConfig")

# Names that pytest and unittest collect: what such a file trains is to fail or pass, and nobody wants it to learn.
_TESTS = re.compile(r"(?:^|[/\\])(?:test_[^/\\]*|[^/\\]*_tests?|conftest)\.py$")
# Classes that make a command line of dataclasses, and refuse what these do not have.
_PARSERS = frozenset({"TrlParser", "HfArgumentParser", "H4ArgumentParser"})
_TRAINERS = re.compile(
    r"^(?:from[ \t]+(transformers|trl|unsloth)[ \t]+import\b[^#\n]*\b(?:\w*Trainer|Fast\w+)\b"
    r"|import[ \t]+(?:trl|unsloth)\b)",
    re.MULTILINE,
)
# Marks of a text that something else fills in first.
_FILLED_IN = re.compile(r"\{\{|\{%|<%|\$\{|^[ \t]*(?:\.\.\.[ \t]*\w|>>> )", re.MULTILINE)
_LOADS = frozenset({"dotenv.load_dotenv", "dotenv.main.load_dotenv"})
_LIBRARIES = ("transformers.", "trl.", "peft.")


def script_starts(
    document: Document, find: Opened | None = None, script: Script | None = None, imported: Imported | None = None,
    *, launched: bool = False, line: Line | None = None,
) -> list[Start]:  # fmt: skip
    """One for each trainer that the program makes; none for a program that trains nothing. find: gives the file
    that the program opens by a name; imported: that it imports. script: if it was read. launched: a command starts it.
    line: Hydra's command line.
    """
    if is_test(document):
        return []
    imported = None if isinstance(document, InnerDocument) else imported
    thin, params = not speaks_of_training(document.text), _may_have(document.text)
    if thin and not params and (imported is None or not _leads(document, imported, find, launched=launched)):
        return []
    from loralint.frameworks.python import starts
    from loralint.frameworks.python.fired import fired
    from loralint.frameworks.python.options import filled, read_file, reads, switches, taken
    from loralint.run.modules import used_modules
    from loralint.source.python import read_script
    from loralint.source.python.script import TOO_LONG

    script = script or read_script(document, find, imported, line)
    script = _reached(script) if thin and not params else script
    if document.format == "python" and document.problems:
        return _broken(document)
    pins = _installed(script)
    found, keys, takes = [], _own(script), taken(script)
    bare = switches(script) if takes else frozenset()
    names, loads, called = filled(script), tuple(_loaded(script, find)), fired(script)
    how = "hydra" if script.composed else reads(script)
    file = find(name) if find is not None and how in ("under", "alone") and (name := read_file(script)) else None
    handed = (file,) if file is not None and file.root is not None else ()
    seen: set[object] = set()
    for start in starts(script):
        if (same := (start.offset, _said(start.document.root), tuple(one.kind for one in start.events))) in seen:
            continue  # a function that is followed by itself, and by another one that calls it without more
        seen.add(same)
        part = Part(
            "script", start.document, start.reader, script.document, start.observations, start.events,
            script.arguments, own=keys, takes=takes, switches=bare, filled=names, fired=called,
            parsed=start.parsed, seen=start.seen, loads=loads, reads=how, handed=handed,
            placed=start.placed,
        )  # fmt: skip
        used = used_modules(script, start) if script.modules else ()
        sources = tuple(_source(one, start.reader) for one in (*script.loaded, *used))
        why = f"what {_name(start.document)} makes"
        makers = _makers(start.document) if thin else frozenset()
        own = tuple(one.file for one in used if one.file in makers or not STARTS.search(one.text))
        found.append(Start((part, *sources), start.reader, why, pins, start.notes, modules=own))
    if not found and not thin and TOO_LONG in script.unread:
        document.fault("too-large", "more steps than are followed, and no training among the first", 0)
    return on_modal([*found, *_of_params(script, pins)] if params else found, script)


def _said(node: Node | None) -> object:
    """What a tree says, wherever it stands."""
    if node is None or node.kind == "scalar":
        return node.raw if node is not None else ""
    return tuple((pair.key, _said(pair.value)) for pair in node.pairs), tuple(map(_said, node.items))


def _may_have(text: str) -> bool:
    """Whether a program may describe a training by an object of AutoTrain's: a quick look."""
    return "autotrain" in text and "Params(" in text


def _of_params(script: Script, pins: dict[str, str]) -> Iterator[Start]:
    from loralint.frameworks.python.autotrain import starts

    for one in starts(script):
        part = Part("script", one.document, one.reader, script.document, one.observations)
        yield Start((part,), one.reader, f"what `{one.name}` makes", pins, open=one.open)


def speaks_of_training(text: str) -> bool:
    """Whether a program names what a training is made of."""
    if not any(word in text for word in WORDS):
        return False
    from loralint.frameworks.python.classes import speaks

    return speaks(text)


def _leads(document: Document, imported: Imported, find: Opened | None, *, launched: bool) -> bool:
    """Whether a program that names nothing of a training may start that of another file."""
    if not launched and document.format != "notebook":
        from loralint.frameworks.launch.programs import is_idle

        if STARTS.search(document.text) is None or is_idle(document.file):
            return False
    return leads(document, imported, find, speaks_of_training)


def _reached(script: Script) -> Script:
    """The program with what it is seen to do alone: others may call functions of it that train, and it does not."""
    left = {id(call) for call in script.uncalled}
    return script._replace(calls=tuple(call for call in script.calls if id(call) not in left)) if left else script


def _makers(document: Document) -> frozenset[str]:
    """The files in which the parts of a start are made."""
    pairs = document.root.pairs if document.root is not None else []
    return frozenset(getattr(pair.key_node.start_mark, "file", "") for pair in pairs)


def _loaded(script: Script, find: Opened | None) -> Iterator[Document]:
    """The files that a program loads its variables from: `load_dotenv()`, and with a path."""
    for call in script.calls if find is not None else ():
        if call.name in _LOADS:
            given = call.arg("dotenv_path", 0)
            name = given.node.native if given is not None else ".env"
            document = find(name) if find is not None and isinstance(name, str) else None
            if document is not None:
                yield document


def _broken(document: Document) -> list[Start]:
    """A program that Python cannot read is a start where it clearly trains: it imports a trainer's library and calls
    a trainer. A template or a program of another Python has no such fault, and is none.
    """
    text = document.text
    found = _TRAINERS.search(text)
    syntax = all(one.kind == "syntax" for one in document.problems)
    if found is None or not syntax or ".train(" not in text or _FILLED_IN.search(text):
        return []
    from loralint.frameworks.detect import by_name, reader

    table = reader(by_name("transformers" if found.group(1) == "transformers" else "trl", document))
    table = table._replace(keys="")  # its command line may take other keys
    return [Start((Part("script", document, table, document),), table, "it imports a trainer and calls `train`")]


def is_test(document: Document) -> bool:
    """Whether a program is a suite of unit tests."""
    return _TESTS.search(document.file) is not None and ("def test_" in document.text or "fixture" in document.text)


def _source(document: Document, reader: Reader) -> Part:
    """A file that the script loads: what it says stands in the script's own part, and nothing more of it counts."""
    made = copy.copy(document)
    root = Node("mapping", "map", Mark(0, document.lines), Mark(len(document.text), document.lines))
    made.roots, made._root = [root], None  # noqa: SLF001 - a copy of our own, whose root is not yet asked for
    return Part("script", made, reader._replace(keys="", observe=(), combine=None), document)


def alone(start: Start, options: Options, files: Lookup) -> Start:
    """The start of a script that nobody is seen to launch: its arguments may be what their defaults are."""
    if not any(part.arguments for part in start.parts):
        return start
    from loralint.run.arguments import filled
    from loralint.run.scripted import unseen_file
    from loralint.run.surroundings import of_caller

    start = unseen_file(start, "")
    variables = of_caller(options, files)
    return start._replace(parts=tuple(made for part in start.parts for made in filled(part, None, variables)))


def _own(script: Script) -> frozenset[str]:
    """The keys that a program takes beside those of the libraries, with ANY where nobody sees all of them."""
    declared = frozenset(one.name for one in script.arguments)
    parsers = [call for call in script.calls if call.name.rpartition(".")[2] in _PARSERS]
    strict = bool(parsers) and all(one.fields and all(map(_seen, one.fields)) for one in parsers)
    return declared if strict else declared | {ANY}


def _seen(base: str) -> bool:
    return base == "object" or base.startswith(_LIBRARIES)


def _installed(script: Script) -> dict[str, str]:
    """The versions that a program says it is run with, and those that lines of a notebook install: `!pip install`."""
    lines = [typed.text for typed in script.shell if "install" in typed.text]
    if not lines and "# /// script" not in script.document.text:
        return {}
    from loralint.frameworks.companions.installed import declared, installed
    from loralint.source.shell import read_shell

    said = declared(script.document.text)
    return {**said, **installed(read_shell(Document(script.document.file, "shell", "\n".join(lines))).commands)}


def _name(document: Document) -> str:
    root = document.root
    keys = [pair.key for pair in root.pairs] if root is not None else []
    return " and ".join(f"`{key}`" for key in dict.fromkeys(keys[:2])) or "it"
