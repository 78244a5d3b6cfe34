"""The one training command of a container, as the rules on manifests ask for it: program, script, flags by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loralint.frameworks.launch.programs import LAUNCHERS, OTHER_MODULES, PYTHON, TRAINERS
from loralint.frameworks.launched import Launch as Started
from loralint.frameworks.readers.kubernetes.command import Executed, Place, executed, words_of
from loralint.frameworks.readers.kubernetes.tree import At, open_text
from loralint.model import Value
from loralint.source.command import Command
from loralint.source.document import Document, Pair

# whoever copies results away says so with one of these
_UPLOADS = re.compile(
    r"\b(?:cp|mv|rsync|aws|gsutil|gcloud|azcopy|az|rclone|mc|scp|s5cmd|tar|upload|huggingface-cli|hf|curl|oras|docker)\b"
)


class Flag(NamedTuple):
    """One option: its name as written, with dashes, its value as a text (empty for a bare switch), its place."""

    name: str
    text: str
    at: At

    @property
    def open(self) -> bool:
        """Whether something else fills its value in."""
        return open_text(self.text)


class Launch(NamedTuple):
    """program: what is started, the outermost launcher's name if there is one; empty when the image decides it.

    before: flags of the launcher; flags: those of the script. script: what Python is to run, empty for none. at: the
    item of the command that it stands in. shell: the script that the command stood in, empty for no shell.
    """

    program: str
    script: str
    before: Mapping[str, Flag]
    flags: Mapping[str, Flag]
    at: At
    shell: str = ""

    @property
    def uploads(self) -> bool:
        """Whether the command itself, or what surrounds it, may bring the results away."""
        pushed = any(name.startswith(("push_to_hub", "hub_")) for name in (*self.flags, *self.before))
        return pushed or _UPLOADS.search(self.shell) is not None


def launch_of(container: At, place: Place) -> Launch | None:
    """The one training command of a container; None where none, or more than one, is seen."""
    found = executed(container, place)
    known = [one for one in found.launches if one.launchers or one.program != "python"]
    several = known if len(known) == 1 else list(found.launches)
    return _launch(several[0], found, container, place) if len(several) == 1 else None


def _launch(launch: Started, found: Executed, container: At, place: Place) -> Launch:
    given = words_of(container, place)
    at = next((one for one in given if one.node.start <= launch.offset < max(one.node.end, one.node.start + 1)), None)
    at = at or given[0]
    launcher = launch.launchers[0] if launch.launchers else None
    script = launch.module or (launch.script.raw if launch.script is not None else "")
    program = launcher.name if launcher else "python -m" if launch.module else launch.program
    if program == "python" and at.node.raw.endswith(".py"):  # the image's entry point is Python, or a launcher
        program = ""
    flags = _flags(launch.flags, at)
    bare = not script and launcher is None
    before = flags if bare else _flags(launcher.flags, at) if launcher is not None else {}
    return Launch(program, script, before, flags, at, found.shell)


def _flags(document: Document, at: At) -> dict[str, Flag]:
    """Options by the name that they are stored under; of one that is given twice the later."""
    root = document.root
    return {pair.key: _flag(pair, at) for pair in root.pairs} if root is not None else {}


def _flag(pair: Pair, at: At) -> Flag:
    value = pair.value
    if value.kind == "sequence":
        given = " ".join(one.raw for one in value.items)
    else:
        given = "" if value.tag == "bool" and value.start == pair.key_node.start else value.raw
    return Flag(pair.key_node.raw, given, At(pair.key_node, at.key, at.pointer))


def programs(container: At, place: Place) -> Iterator[str]:
    """The names of the scripts, modules and trainers that a container runs, training or not."""
    for command in executed(container, place).commands:
        name = _program(command)
        if name:
            yield os.path.basename(name)


def _program(command: Command) -> str:
    words = [one.raw for one in command.words[:64]]
    script = next((one for one in words if one.endswith(".py")), "")
    if script:
        return script
    base = os.path.basename(words[0]) if words else ""
    module = next((words[n + 1] for n, one in enumerate(words[:-1]) if one in ("-m", "--module")), "")
    if module and (PYTHON.fullmatch(base) or base in LAUNCHERS):
        return "" if module in OTHER_MODULES else module
    return f"{base} {words[1]}" if base in TRAINERS and words[1:2] and words[1] in TRAINERS[base] else ""


def place(document: Document, flag: Flag, content: object, field: str = "") -> Value:
    """The flag as a value, at its own place."""
    said = f"{flag.name} {flag.text}".strip()
    return Value(content, "flag", flag.name, flag.at.pointer, said, document.span(flag.at.node), field=field)


def number(flag: Flag | None) -> int | None:
    """A flag's whole number; None for a switch, a word or a variable."""
    raw = flag.text if flag is not None else ""
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 8 else None


def switch(flag: Flag) -> bool | None:
    """A flag as a boolean: a bare one is on; None for another word."""
    return {"": True, "true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(
        flag.text.lower()
    )


def first(flags: Mapping[str, Flag], *names: str) -> Flag | None:
    """The first of these flags that is given."""
    return next((flags[name] for name in names if name in flags), None)
