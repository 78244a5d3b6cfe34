"""What argparse of a trainer's own script refuses, by the list of its flags: values behind switches, flags it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from loralint.frameworks.key_list import key_list
from loralint.frameworks.launch.strict import hidden, valued
from loralint.frameworks.launched import Launch
from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.model import Unknown, Value
from loralint.source.document import Node

_WORD = re.compile(r"[A-Za-z]")
_SIZES = frozenset({"resolution"})  # whose blank behind the comma is told of by the reader
_WHOLE = 5  # flags of a command that is given whole; fewer may be an excerpt that shows one of them


def listed(launch: Launch, known: str, package: str) -> Iterator[Observation]:
    """All of that for a launch. known: the name of the list of its script's flags, "" for none."""
    root = launch.flags.root
    if not known or root is None or launch.script is None or launch.takes:
        return
    lists: Any = key_list(known)
    switches = frozenset(lists.get("switches", ()))
    for pair in root.pairs:
        if pair.key in switches and pair.value.tag != "bool" and not hidden(pair):
            yield valued(launch, pair)._replace(package=package)
    yield from _strays(launch, package)
    lacking = [flag for flag in lists.get("required", ()) if root.pair(flag) is None]
    if lacking and len(root.pairs) >= _WHOLE and not _open(launch, root):
        yield _lacks(launch, lacking, package)


def _strays(launch: Launch, package: str) -> Iterator[Observation]:
    """Words right behind `--name=value`, which belong to no option: a value with blanks and without quotes."""
    root, text = launch.flags.root, launch.flags.text
    for pair in root.pairs if root is not None else ():
        end = pair.value.end
        joined = text[pair.key_node.end : pair.key_node.end + 1] == "="
        behind = [word for word in launch.positionals if word.start > end and not text[end : word.start].strip(" \t")]
        word = behind[0] if joined and behind else None
        if word is None or not isinstance(word.text, str) or _WORD.match(word.raw) is None or pair.key in _SIZES:
            continue
        written = f"{pair.key_node.raw}={pair.value.raw}"
        message = f"`{word.raw}` stands behind `{written}` and belongs to no option, at which argparse stops"
        data = {
            "advice": f'write quotes round a value with blanks: {pair.key_node.raw}="{pair.value.raw} {word.raw} ..."'
        }
        yield Observation("rejected", place(launch.flags, pair, pair.key), "crash", message, package=package, data=data)


def _open(launch: Launch, root: Node) -> bool:
    """Whether words that nobody can see may hold more flags."""
    words = [*launch.positionals, *(one for pair in root.pairs for one in (pair.value, *pair.value.items))]
    return any(isinstance(getattr(one, "text", None) or getattr(one, "native", None), Unknown) for one in words)


def _lacks(launch: Launch, lacking: list[str], package: str) -> Observation:
    assert launch.script is not None
    where = Value(None, key=lacking[0], pointer=f"/{lacking[0]}", span=launch.flags.span(launch.script.node))
    names = " and ".join(f"--{flag}" for flag in lacking)
    message = f"{launch.script.raw} does not start without {names}"
    data = {"advice": f"add {names} with what it is to be"}
    return Observation("option-missing", where, "crash", message, package=package, data=data)
