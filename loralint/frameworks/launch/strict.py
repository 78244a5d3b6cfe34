"""Flags of a launch as argparse in the script takes them: by the start of their names, and no others."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from loralint.frameworks.launch.programs import ONLY
from loralint.frameworks.launched import Launch
from loralint.frameworks.lookup import closest
from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.model import Unknown, Value
from loralint.source.document import Document, Node, Pair


def accepted(launch: Launch) -> Document:
    """The flags under their full names, less those that the script refuses."""
    root = launch.flags.root
    if root is None or not launch.takes:
        return launch.flags
    made = copy.copy(launch.flags)
    tree = Node("mapping", "map", root.start_mark, root.end_mark)
    tree.pairs = [pair._replace(key=_full(pair, launch)) for pair in root.pairs if _known(pair, launch)]
    made.roots, made._root = [tree], None  # noqa: SLF001 - a copy of our own, whose root is not yet asked for
    return made


def refused(launch: Launch) -> Iterator[Observation]:
    """Flags at which the script's parser stops; those of a launcher are told as such."""
    root, script = launch.flags.root, launch.script
    launchers = {name for one in launch.launchers for name in ONLY.get(one.name, ())}
    for pair in root.pairs if root is not None and launch.takes and script is not None else ():
        if not _known(pair, launch) and pair.key not in launchers:
            yield _refused(launch, pair)
        elif pair.key_node.raw in launch.switches and pair.value.tag != "bool" and not hidden(pair):
            yield valued(launch, pair)


def rank_refused(launch: Launch) -> Iterator[Observation]:
    """The flag that DeepSpeed's launcher gives to every process, where the script's parser does not take it."""
    own = next((one.flags for one in launch.launchers if one.name == "deepspeed"), None)
    script = launch.script
    if own is None or own.root is None or script is None or not launch.takes or "--local_rank" in launch.takes:
        return
    if own.root.pair("no_local_rank") is None and not any(one.startswith("--local_rank") for one in launch.takes):
        where = Value(None, key="deepspeed", pointer="/deepspeed", span=launch.flags.span(script.node))
        what = f"deepspeed hands `--local_rank` to every process, and {_name(launch)} takes no such option"
        advice = "declare it in the script (`--local_rank`, an int), or write `--no_local_rank` before the script"
        yield Observation("misplaced", where, "crash", what, data={"advice": advice})


def hidden(pair: Pair) -> bool:
    """Whether a variable stands for the value, which may be empty."""
    return any(isinstance(one.native, Unknown) for one in (pair.value, *pair.value.items))


def valued(launch: Launch, pair: Pair) -> Observation:
    """Observe a value behind a switch."""
    flag = pair.key_node.raw
    what = f"{flag} is a switch of {_name(launch)}, which takes no value, and argparse stops at the word after it"
    data = {"advice": f"write {flag} alone, or leave it out"}
    return Observation("rejected", place(launch.flags, pair, pair.key), "crash", what, data=data)


def _refused(launch: Launch, pair: Pair) -> Observation:
    written, script = pair.key_node.raw, _name(launch)
    meant = closest(written, sorted(launch.takes))
    what = f"{script} takes no such option, and argparse stops"
    data = {"name": written, "framework": script}
    return Observation("unknown", place(launch.flags, pair, pair.key), "crash", what, meant, data=data)


def _name(launch: Launch) -> str:
    return launch.script.raw.replace("\\", "/").rpartition("/")[2] if launch.script is not None else "the script"


def _known(pair: Pair, launch: Launch) -> bool:
    written = pair.key_node.raw
    if written.startswith("--"):
        return any(one.startswith(written) for one in launch.takes)
    return not written.startswith("-") or any(one.startswith(written[:2]) for one in launch.takes)


def _full(pair: Pair, launch: Launch) -> str:
    """The name of the one flag that starts as this one, else its own."""
    written = pair.key_node.raw
    several = [one for one in launch.takes if one.startswith(written)] if written.startswith("--") else []
    whole = len(several) == 1 and several[0] != written
    return several[0].lstrip("-").replace("-", "_") if whole else pair.key
