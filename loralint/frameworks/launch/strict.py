"""Flags of a launch as argparse in the script takes them: by the start of their names, and no others."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from loralint.frameworks.launch.programs import ONLY
from loralint.frameworks.launched import Launch, Launcher
from loralint.frameworks.lookup import closest
from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.model import Unknown, Value
from loralint.source.command import Word
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


def declared(launch: Launch, programs: list[str]) -> frozenset[str]:
    """Options of a launcher that a program has too: in quotes, as argparse is told them, or as a dataclass' field."""
    names = {name for one in launch.launchers for name in ONLY.get(one.name, ())}
    pairs = launch.flags.root.pairs if launch.flags.root is not None and programs and names else []
    return frozenset(
        pair.key
        for pair in pairs
        if pair.key in names and any(sign in text for text in programs for sign in _signs(pair.key_node.raw, pair.key))
    )


def _signs(written: str, name: str) -> tuple[str, ...]:
    return (f'"{written}"', f"'{written}'", f"\n    {name}:")


def refused(launch: Launch) -> Iterator[Observation]:
    """Flags at which the script's parser stops; those of a launcher are told as such."""
    root, script = launch.flags.root, launch.script
    launchers = {name for one in launch.launchers for name in ONLY.get(one.name, ())}
    for pair in root.pairs if root is not None and launch.takes and script is not None else ():
        if not _known(pair, launch) and pair.key not in launchers:
            yield _refused(launch, pair)
        elif pair.key_node.raw in launch.switches and pair.value.tag != "bool" and not hidden(pair):
            yield valued(launch, pair)


def left_over(launch: Launch) -> Iterator[Observation]:
    """Flags that Fire finds no argument for, and tells of once the function is through."""
    root = launch.flags.root
    own = any(one.raw in ("-", "--") for one in launch.words)  # behind which stand Fire's own, or another call
    for pair in root.pairs if root is not None and launch.fired and not own else ():
        written, name = pair.key_node.raw, pair.key_node.raw.lstrip("-").replace("-", "_")
        if not written.startswith("-") or _consumed(name, launch.fired):
            continue
        what = "the function has no such argument, Fire calls it without, and stops with an error once it is through"
        data = {"name": written, "framework": "Fire"}
        meant = closest(name, sorted(launch.fired))
        yield Observation(
            "unknown", place(launch.flags, pair, pair.key), "lost", what, meant and f"--{meant}", data=data
        )


def _consumed(name: str, fired: frozenset[str]) -> bool:
    switched = name.removeprefix("no")
    return {name, switched} & fired != set() or (len(name) == 1 and any(one[0] == name for one in fired))


def rank_refused(launch: Launch) -> Iterator[Observation]:
    """The flag that a launcher gives to every process, where the script's parser does not take it."""
    script = launch.script
    handed, spared = next((found for one in launch.launchers if (found := _handed(launch, one)) is not None), ("", ""))
    if script is None or not handed:
        return
    if launch.fired:
        if "local_rank" not in launch.fired:
            yield _told_late(launch, script, handed, spared)
        return
    if not launch.takes or any(one.startswith(handed) for one in launch.takes):
        return
    name = launch.launchers[-1].name
    where = Value(None, key=name, pointer=f"/{name}", span=launch.flags.span(script.node))
    what = f"the launcher hands `{handed}` to every process, and {_name(launch)} takes no such option"
    advice = f"declare it in the script (`{handed}`, an int), or {spared}"
    package = "torch" if "-r" in handed else ""  # which wrote it like DeepSpeed before its release 2
    yield Observation("misplaced", where, "crash", what, package=package, data={"advice": advice})


def _told_late(launch: Launch, script: Word, handed: str, spared: str) -> Observation:
    name = launch.launchers[-1].name
    where = Value(None, key=name, pointer=f"/{name}", span=launch.flags.span(script.node))
    what = f"Fire has no argument for the `{handed}` of the launcher, and every process fails after the training"
    advice = f"declare it in the function (local_rank: int = 0), or {spared}"
    return Observation("misplaced", where, "lost", what, data={"advice": advice})


def _handed(launch: Launch, one: Launcher) -> tuple[str, str] | None:
    """The option by which a launcher tells each process its number, and what spares the script that."""
    own, script = one.flags.root, launch.script
    if own is None or script is None:
        return None
    if one.name == "deepspeed":
        return None if own.pair("no_local_rank") else ("--local_rank", "write `--no_local_rank` before the script")
    module = "torch.distributed.launch" in launch.flags.text[launch.offset : script.node.start]
    # with a dash since torch 2; torchrun, which is the same without it, hands nothing over
    return ("--local-rank", "start it with torchrun") if module and not own.pair("use_env") else None


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
