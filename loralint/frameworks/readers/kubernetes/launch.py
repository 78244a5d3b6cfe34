"""What a container's command starts: the program, its flags, and how many processes that makes.

No shell is built here. Of a script only plain commands are read, and only when one of them is the launch; what a loop,
a here-document or two launches would do stays open. `$NAME` is filled in later, so no value is taken from it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.tree import At, items, named, open_text, text
from loralint.model import Value
from loralint.source.document import Document

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash"})
_LAUNCHERS = frozenset({"torchrun", "accelerate", "accelerate-launch", "deepspeed", "mpirun", "mpiexec", "horovodrun"})
_TRAINERS = frozenset({"trl", "axolotl", "llamafactory-cli", "swift", "tune", "litgpt", "oumi", "autotrain"})
_PYTHON = re.compile(r"python[\d.]*")
# what a line must hold to be looked at word by word, and the longest script that is
_LAUNCHES = re.compile(
    r"py|torchrun|accelerate|deepspeed|mpi|horovod|trl|axolotl|llamafactory|swift|tune|litgpt|oumi|auto"
)
_LONGEST = 64 * 1024
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# whoever copies results away says so with one of these
_UPLOADS = re.compile(
    r"\b(?:cp|mv|rsync|aws|gsutil|gcloud|azcopy|az|rclone|mc|scp|s5cmd|tar|upload|huggingface-cli|hf|curl|oras|docker)\b"
)


class Word(NamedTuple):
    """One argument and the node that holds it, which may be a whole script."""

    text: str
    at: At


class Launch(NamedTuple):
    """program: base name of what is started, as `python`. before: flags of a launcher; flags: those of the script.

    script: what Python is to run, empty for none. shell: the text that the command stood in, empty for no shell.
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


class Flag(NamedTuple):
    """One option: its name as written, with dashes, its value as a text (empty for a bare switch), its place."""

    name: str
    text: str
    at: At

    @property
    def open(self) -> bool:
        """Whether something else fills its value in."""
        return open_text(self.text)


@lru_cache(maxsize=64)  # every question about a container asks for it again
def launch_of(container: At, entrypoint: At | None = None) -> Launch | None:
    """The one training command of a container, or of Ray's entrypoint; None where none, or more than one, is seen."""
    if entrypoint is not None:
        return _of_script(text(entrypoint), [], entrypoint)
    words = [Word(text(one), one) for name in ("command", "args") for one in items(named(container, name))]
    if words and _base(words[0].text) in _SHELLS:
        index = next((n for n, one in enumerate(words[1:3], 1) if re.fullmatch(r"-[a-z]*c", one.text)), 0)
        if not index or len(words) <= index + 1:
            return None
        return _of_script(words[index + 1].text, words[index + 3 :], words[index + 1].at)
    return _launch(words, "") if words else None


def _base(path: str) -> str:
    return os.path.basename(path)


def _of_script(script: str, rest: list[Word], at: At) -> Launch | None:
    if "<<" in script or len(script) > _LONGEST:
        return None
    found = [one for line in _commands(script) if (one := _launch(_words(line, rest, at), script)) is not None]
    launchers = [one for one in found if not _PYTHON.fullmatch(one.program)]
    if len(launchers) == 1:
        return launchers[0]
    return found[0] if len(found) == 1 else None


def _commands(script: str) -> list[str]:
    lines = re.sub(r"\\\r?\n", " ", script).splitlines()
    return [part for line in lines for part in re.split(r"&&|\|\||[;|]", line) if _LAUNCHES.search(part)]


def _words(line: str, rest: list[Word], at: At) -> list[Word]:
    """The words of a plain command; none for one whose quotes do not close."""
    import shlex

    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    if "$@" in words:
        index = words.index("$@")
        return [*(Word(one, at) for one in words[:index]), *rest]
    return [Word(one, at) for one in words]


def _launch(words: list[Word], shell: str) -> Launch | None:
    """The launch that a command is, or None for another command."""
    while words and (words[0].text in ("exec", "env", "nohup", "time") or _ASSIGNMENT.match(words[0].text)):
        words = words[1:]
    program = _base(words[0].text) if words else ""
    if program.endswith(".py"):  # the image's entry point is Python, or a launcher that nobody sees
        return Launch("", program, {}, _flags(words[1:]), words[0].at, shell)
    if _PYTHON.fullmatch(program):
        return _of_python(words, shell)
    known = program in _LAUNCHERS or program in _TRAINERS
    if not known or (program == "accelerate" and [one.text for one in words[1:2]] != ["launch"]):
        return None
    return _of_launcher(program, words, shell)


def _of_launcher(program: str, words: list[Word], shell: str) -> Launch:
    """Flags before the script are the launcher's; where no script stands they may be anybody's."""
    split = next((n for n, one in enumerate(words) if one.text.endswith(".py") or one.text in ("-m", "--module")), 0)
    if not split:
        flags = _flags(words[1:])
        return Launch(program, "", flags, flags, words[0].at, shell)
    named_ = words[split : split + 1] if words[split].text.endswith(".py") else words[split + 1 : split + 2]
    script = named_[0].text if named_ else ""
    return Launch(program, script, _flags(words[1:split]), _flags(words[split + 1 :]), words[0].at, shell)


def _of_python(words: list[Word], shell: str) -> Launch | None:
    rest = words[1:]
    while rest and rest[0].text.startswith("-") and rest[0].text not in ("-m", "-c"):
        rest = rest[1:]  # python's own switches, such as -u
    if not rest or rest[0].text == "-c":
        return None
    if rest[0].text != "-m":
        return Launch("python", rest[0].text, {}, _flags(rest[1:]), words[0].at, shell)
    module = rest[1].text if len(rest) > 1 else ""
    if module in ("torch.distributed.run", "torch.distributed.launch"):
        return _launch([Word("torchrun", words[0].at), *rest[2:]], shell)
    if module == "accelerate.commands.launch":
        return _launch([Word("accelerate-launch", words[0].at), *rest[2:]], shell)
    if module in ("pip", "venv", "http.server"):
        return None
    return Launch("python -m", module, {}, _flags(rest[2:]), words[0].at, shell)


def _flags(words: list[Word]) -> dict[str, Flag]:
    """Options by their name without dashes, words joined by `_`; a later one wins."""
    found = {}
    for index, one in enumerate(words):
        if not re.match(r"--?[A-Za-z_]", one.text):
            continue
        name, equals, given = one.text.partition("=")
        following = words[index + 1].text if index + 1 < len(words) else "-"
        if not equals and not re.match(r"-(?:-|[A-Za-z]|$)", following):
            given = following
        found[name.lstrip("-").replace("-", "_")] = Flag(name, given, one.at)
    return found


def place(document: Document, flag: Flag, content: object, field: str = "") -> Value:
    """The flag as a value, at its own place inside a script where that can be told."""
    node = flag.at.node
    start = _within(document, flag)
    end = start + len(flag.name) if start >= 0 else node.end
    span = document.span_at(start, end) if start >= 0 else document.span(node)
    return Value(content, "flag", flag.name, flag.at.pointer, f"{flag.name} {flag.text}".strip(), span, field=field)


def _within(document: Document, flag: Flag) -> int:
    pattern = re.compile(rf"(?<![\w-]){re.escape(flag.name)}(?![\w-])")
    match = pattern.search(document.text, flag.at.node.start, flag.at.node.end)
    return match.start() if match else -1


def number(flag: Flag | None) -> int | None:
    """A flag's whole number; None for a switch, a word or a variable."""
    return (
        int(flag.text)
        if flag is not None and flag.text.isascii() and flag.text.isdigit() and len(flag.text) < 8
        else None
    )


def switch(flag: Flag) -> bool | None:
    """A flag as a boolean: a bare one is on; None for another word."""
    return {"": True, "true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(
        flag.text.lower()
    )


def first(flags: Mapping[str, Flag], *names: str) -> Flag | None:
    """The first of these flags that is given."""
    return next((flags[name] for name in names if name in flags), None)
