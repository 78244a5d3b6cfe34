"""Secrets among the words of commands that train nothing themselves, such as `wandb login KEY`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from loralint.frameworks.table import Observation
from loralint.model import Span, Value
from loralint.source.command import Command
from loralint.source.document import Document
from loralint.source.script import Script
from loralint.source.secrets import find, holds_one

_ADVICE = "hand the new one over in the environment (HF_TOKEN, WANDB_API_KEY) instead of the command"
_SETS = re.compile(r"(-{0,2}\w[\w-]{0,80})=(.+)", re.DOTALL)


def spoken(commands: Iterable[Command], document: Document, launched: Collection[int]) -> Iterator[Observation]:
    """Those of a script. launched: where commands start whose flags are read by name."""
    if holds_one(document.text):
        for command in commands:
            if command.start not in launched:
                yield from _among([(word.raw, document.span(word.node)) for word in command.words])


def typed(script: Script) -> Iterator[Observation]:
    """Those of the lines that a notebook gives to a shell, and of the variables that it sets for them."""
    for one in script.shell if holds_one(script.document.text) else ():
        for line in re.finditer(r"[^\n]+", one.text):
            yield from _among(list(_placed(script, line[0], one.start + line.start())))


def _placed(script: Script, line: str, start: int) -> Iterator[tuple[str, Span]]:
    """The words of a line, each with its place in the file."""
    for word in re.finditer(r"[^\s\"']+", line):
        if script.places is not None:
            yield word[0], script.places.span(start + word.start(), start + word.end())


def _among(words: Sequence[tuple[str, Span]]) -> Iterator[Observation]:
    """One observation for each word that is a secret, or sets one, called by what stands before it."""
    command = " ".join(word for word, _ in words[:2])
    for index, (word, span) in enumerate(words):
        sets = _SETS.fullmatch(word)
        before = words[index - 1][0] if index else ""
        kind = find(sets[1], sets[2]) if sets else find(f"{command} {before}", word) if index else None
        if kind:
            name = sets[1] if sets else f"{words[0][0]} {before}" if index > 1 else before
            where = Value("***", key=name, pointer=f"/{name}", text="***", span=span, key_span=span)
            yield Observation("secret", where, "harmless", f"`{name}` holds a {kind}", data={"advice": _ADVICE})
