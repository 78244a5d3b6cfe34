"""From commands to launches: launchers off, outermost first, until the program that trains."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from loralint.frameworks.launch.flags import Style, is_flag, is_open, take
from loralint.frameworks.launch.programs import (
    ALIASES,
    BESIDE,
    DOTLISTS,
    LAUNCHERS,
    MODULES,
    OTHER_MODULES,
    OUTER,
    OWN_OPTIONS,
    PYTHON,
    PYTHON_VALUED,
    SCRIPT,
    TRAINER_MODULES,
    TRAINERS,
    is_idle,
)
from loralint.frameworks.launch.programs import Launcher as Known
from loralint.frameworks.launch.settled import settle
from loralint.frameworks.launched import Launch, Launcher
from loralint.source.command import Command, Shell, Word
from loralint.source.document import Document, Pair

_DEEPEST = 8  # launchers around launchers
# Characters between a command and the line that it lost: its indentation and a comment.
_NEAR = 200
Fault = tuple[str, str, int, int]


class _Found(NamedTuple):
    """What a command turns out to start: program, subcommand, script, module, and the words behind."""

    program: str
    subcommand: str = ""
    script: Word | None = None
    module: str = ""
    words: tuple[Word, ...] = ()


class _At(NamedTuple):
    document: Document
    command: Command
    launchers: list[Launcher]

    def take(self, words: Iterable[Word], style: Style | None = None) -> tuple[Document, tuple[Word, ...]]:
        """Flags and the other words."""
        return take(words, self.document, (self.command.start, self.command.end), style or Style())


def launches(shell: Shell, document: Document) -> list[Launch]:
    """Every training start of a script, in its order; the same command of a loop with the same words only once."""
    found: list[Launch] = []
    seen: set[tuple[int, tuple[str, ...]]] = set()
    for command in shell.commands:
        same = (command.start, tuple(word.raw for word in command.words))
        if same not in seen:
            seen.add(same)
            found += _launch(command, document, shell.faults)
    return found


def _touches(fault: Fault, command: Command, text: str) -> bool:
    """Whether a fault lies in the command or starts right behind it, or is a variable of it that is not set."""
    if fault[0] == "assignment":
        name = re.match(r"\w+", text[fault[2] : fault[3]])
        used = name and re.search(rf"\$\{{?{name[0]}\b", text[command.start : command.end])
        return used is not None and fault[3] <= command.start
    return command.start <= fault[2] <= command.end + _NEAR


def _idle(found: _Found) -> bool:
    """Whether a script's name says that it is no training, or it is only asked what it takes."""
    asks = ("--help",) if found.program == "python" else ("--help", "-h")
    if any(word.raw in asks for word in found.words):
        return True
    name = found.script.raw if found.script is not None else found.module.rpartition(".")[2]
    return found.program == "python" and is_idle(name)


def _launch(command: Command, document: Document, faults: tuple[Fault, ...]) -> list[Launch]:
    at = _At(document, command, [])
    found = _unwrap(command.words, at, 0)
    if found is None:
        return []
    flags, rest = at.take(found.words, Style(settings=_takes_settings(found)))
    own = OWN_OPTIONS.get(found.program, frozenset())
    if own and flags.root is not None:
        flags.root.pairs = [pair for pair in flags.root.pairs if pair.key not in own]
    if _idle(found):
        return []
    if found.program == "litgpt" and rest and flags.root is not None and flags.root.pair("checkpoint_dir") is None:
        flags.root.pairs = [Pair("checkpoint_dir", rest[0].node, rest[0].node), *flags.root.pairs]
    made = Launch(
        found.program, found.subcommand, found.script, found.module, flags, rest, tuple(at.launchers),
        command.env, command.folder, command.start, command.sure,
        tuple(fault for fault in faults if _touches(fault, command, document.text)),
        words=found.words,
    )  # fmt: skip
    from loralint.frameworks.launch.serving import reader_for

    reader = reader_for(made)
    if reader is not None:
        settle(flags, reader)
    return [made]


def _takes_settings(found: _Found) -> bool:
    """Whether `key=value` sets a key and a flag is none; with LLaMA-Factory only behind a config is it so."""
    if found.program == "llamafactory-cli":
        return bool(found.words) and _is_config(found.words[0])
    return found.program in DOTLISTS or _hydra(found)


def _is_config(word: Word) -> bool:
    return word.raw.lower().endswith((".yaml", ".yml", ".json"))


def _hydra(found: _Found) -> bool:
    """Whether settings come as `a.b=c`: most dotted words of the command do."""
    return sum("=" in word.raw and not word.raw.startswith("-") and "." in word.raw.partition("=")[0]
               for word in found.words) > 1  # fmt: skip


def _unwrap(words: tuple[Word, ...], at: _At, depth: int) -> _Found | None:
    if not words or depth > _DEEPEST:
        return None
    name = _base(words[0])
    if PYTHON.fullmatch(name):
        return _python(words[1:], at, depth)
    if name in LAUNCHERS or name in OUTER:
        return _launched(name, words[1:], at, depth) if name in LAUNCHERS else _outer(name, words, at, depth)
    if name in TRAINERS:
        return _trainer(name, words[1:], at)
    if SCRIPT.fullmatch(name):
        return _Found("python", script=words[0], words=words[1:])
    return _hidden(words, at, depth) if not isinstance(words[0].text, str) else None


def _hidden(words: tuple[Word, ...], at: _At, depth: int) -> _Found | None:
    """`$PYTHON -u train.py`, `$LAUNCHER train.py`: what starts it is not known, but that it starts is."""
    index = next((n for n, word in enumerate(words[1:6], 1) if word.raw == "-m" or SCRIPT.fullmatch(_base(word))), 0)
    return _python(words[index:], at, depth) if index else None


def _base(word: Word) -> str:
    return word.raw.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def _python(words: tuple[Word, ...], at: _At, depth: int) -> _Found | None:
    """`python -u -m a.b`, `python x.py`; what stands in `-c` or comes from a pipe is no launch."""
    index = 0
    while index < len(words) and words[index].raw.startswith("-") and words[index].raw not in ("-m", "-c", "-"):
        index += 2 if words[index].raw in PYTHON_VALUED else 1
    rest = words[index:]
    if not rest or rest[0].raw in ("-c", "-"):
        return None
    if rest[0].raw == "-m":
        return _module(rest[1:], at, depth)
    return _Found("python", script=rest[0], words=rest[1:])


def _module(words: tuple[Word, ...], at: _At, depth: int) -> _Found | None:
    if not words or words[0].raw in OTHER_MODULES:
        return None
    module, rest = words[0].raw, words[1:]
    if module in MODULES:
        return _launched(MODULES[module], rest, at, depth)
    for pattern, program, subcommand in TRAINER_MODULES:
        match = pattern.fullmatch(module)
        if match is None:
            continue
        known = subcommand or match.groupdict().get("sub", "")
        if known:
            return _Found(program, known, module=module, words=rest)
        found = _trainer(program, rest, at)
        return found._replace(module=module) if found is not None else None
    return _Found("verl" if module.startswith("verl.") else "python", module=module, words=rest)


def _trainer(name: str, words: tuple[Word, ...], at: _At) -> _Found | None:
    subcommands, program = TRAINERS[name], ALIASES.get(name, name)
    if not subcommands:
        return _Found(program, "lora", words=words)
    if not words or not (words[0].raw in subcommands or _reads_config(program, words)):
        return None
    if words[0].raw.startswith("-"):  # `autotrain --config x.yml` has none
        return _Found(program, words=words)
    rest = words[1:]
    if name == "tune":
        split = _options(LAUNCHERS["torchrun"], rest)
        if split:
            at.launchers.append(
                Launcher("torchrun", at.take(rest[:split], Style(switches=LAUNCHERS["torchrun"].switches))[0])
            )
            rest = rest[split:]
    return _Found(program, words[0].raw, words=rest)


def _reads_config(program: str, words: tuple[Word, ...]) -> bool:
    """Whether a command that trains nothing is given a config, or a merge is told an adapter."""
    if len(words) < 2 or words[0].raw not in BESIDE.get(program, ()):
        return False
    merges = words[0].raw == "export" and any(word.raw.startswith("--adapter_name_or_path") for word in words)
    return merges or _is_config(words[1])


def _launched(name: str, words: tuple[Word, ...], at: _At, depth: int) -> _Found | None:
    """A launcher whose options are known: what stands behind them is a script, a module or a program."""
    known = LAUNCHERS[name]
    if known.after:
        if not words or words[0].raw != known.after:
            return None
        words = words[1:]
    split = _options(known, words)
    own, rest = words[:split], words[split:]
    flags, _ = at.take(own, Style(switches=known.switches | known.modules))
    at.launchers.append(Launcher(known.name, flags))
    if any(word.raw in known.modules for word in own):
        return _module(rest, at, depth + 1)
    if not rest:
        return None
    if any(word.raw in known.bare for word in own):
        return _unwrap(rest, at, depth + 1)
    if _base(rest[0]) in TRAINERS or PYTHON.fullmatch(_base(rest[0])):
        plain = isinstance(rest[0].text, str) and "/" not in rest[0].raw  # a path may lead to a Python file
        at.launchers[-1] = Launcher(known.name, flags, rest[0] if plain else None)
        return _unwrap(rest, at, depth + 1)
    return _Found("python", script=rest[0], words=rest[1:])


def _options(known: Known, words: tuple[Word, ...]) -> int:
    """How many words are the launcher's own options; what they do not know takes one value."""
    index = 0
    while index < len(words) and (is_flag(words[index]) or is_open(words[index])):
        word = words[index].raw
        index += 1
        if word in known.modules:
            break
        valued = is_flag(words[index - 1]) and word not in known.switches and "=" not in word
        if valued and index < len(words) and not is_flag(words[index]):
            index += 1
    return index


def _outer(name: str, words: tuple[Word, ...], at: _At, depth: int) -> _Found | None:
    """A program with options of its own around a command: the first word that can be one starts it."""
    for index, word in enumerate(words[1:], 1):
        base = _base(word)
        image = name in ("docker", "podman") and ("/" in word.raw or ":" in word.raw) and not SCRIPT.fullmatch(base)
        if image or not (PYTHON.fullmatch(base) or base in LAUNCHERS or base in TRAINERS or SCRIPT.fullmatch(base)):
            continue
        at.launchers.append(Launcher(name, at.take(words[1:index])[0]))
        found = _unwrap(words[index:], at, depth + 1)
        if found is not None:
            return found
        at.launchers.pop()
    return None
