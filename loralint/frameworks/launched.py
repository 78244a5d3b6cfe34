"""A training start on a command line, taken apart: who launches what with which flags."""

from __future__ import annotations

from typing import NamedTuple

from loralint.source.command import Assignment, Word
from loralint.source.document import Document


class Launcher(NamedTuple):
    """A program that starts another: accelerate, torchrun, deepspeed. flags: a document whose root holds its own.
    started: a program that stands where it wants a Python file, None for such a file.
    """

    name: str
    flags: Document
    started: Word | None = None


class Launch(NamedTuple):
    """One training start.

    program: what is started, by its known name (`axolotl`, `llamafactory-cli`, `trl`, `swift`, `tune`), or "python".
    subcommand: `sft` of `trl sft`, `train` of `axolotl train`. script: what Python runs, None for an installed program;
    module: of `python -m a.b`. flags: a document whose root is a mapping of the program's own flags, by the names that
    argparse would store them under (`--lora-r 8` -> lora_r: "8"; a switch is true, several values a list; `a.b=c` ->
    the dotted key), each with its exact place. positionals: the other words, in order. launchers: outermost first.
    env, folder, sure: as in source.command.Command. offset: where the command starts in its file. faults: what of the
    shell's faults (see source.command.Shell) touches this command. takes: every flag that the script's own
    parser knows, as it is written; empty where it may take others. switches: those of
    them that take no value. filled: the framework whose own dataclasses the script makes flags of, "" for none. words:
    all that stands behind the program, as it is written. fired: the arguments of the one function that Fire calls.
    declared: names of arguments that the script is seen to declare, among which may be others.
    """

    program: str
    subcommand: str
    script: Word | None
    module: str
    flags: Document
    positionals: tuple[Word, ...]
    launchers: tuple[Launcher, ...]
    env: tuple[Assignment, ...]
    folder: str | None
    offset: int
    sure: bool
    faults: tuple[tuple[str, str, int, int], ...] = ()
    takes: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    filled: str = ""
    words: tuple[Word, ...] = ()
    fired: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
