"""Launches on several machines of a batch system that one machine alone carries out, or that all take for the first.

Slurm runs a batch script once, on the first machine of the job; srun starts a command on all of them, each with a
number of its own. What the batch script's shell expands is that of the first, 0.

Without Slurm: torch 2.13 distributed/run.py (get_rdzv_endpoint) and rendezvous/utils.py (an endpoint that nobody names
is this machine); LLaMA-Factory 0.9.0 and 0.9.1 cli.py (the machine's number was RANK, and is NODE_RANK since).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.launched import Launch, Launcher
from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.document import Pair

_NODES = re.compile(r"^#SBATCH[ \t]+(?:--nodes[= ]|-N[ ]?)(\d+)[ \t]*(?:#.*)?$", re.MULTILINE)
# programs by which a script reaches other machines than its own
_REACHES = re.compile(r"\b(?:srun|mpirun|mpiexec|orterun|pdsh|clush|ssh|blaunch|horovodrun)\b")
# what other launchers than accelerate and torchrun find the machines by
_ELSEWHERE = re.compile(r"hostfile|multinode_launcher|<<")
_MEETS = re.compile(r"c10d|etcd")  # where machines meet no rank is told
_ASKED = re.compile(r"\$\([^()]*\)|`[^`]*`")  # a command in place of a word
_FEWEST = re.compile(r"1(?::|$)")  # of a range of machines one may be enough
_RANK = re.compile(r"\$\{?SLURM_(?:PROCID|NODEID)\b")
_COUNTS = ("num_machines", "nnodes")
_RANKS = ("machine_rank", "node_rank")
_ENDPOINT = "PET_RDZV_ENDPOINT"


def alone(launch: Launch) -> Iterator[Observation]:
    """All of that for a launch in a batch script of Slurm that asks for several machines."""
    text = launch.flags.text
    nodes = _NODES.search(text)
    if nodes is None or int(nodes[1]) < 2 or _ELSEWHERE.search(text):
        return
    for one in launch.launchers:
        if one.name in ("accelerate", "torchrun"):
            if not _reaches(text):
                yield from _unreached(launch, one, nodes[1])
            elif not _MEETS.search(text):
                yield from _all_first(one, text)


def unmet(launch: Launch) -> Iterator[Observation]:
    """Machines that each wait for the others at home, or that all take themselves for the first."""
    for one in launch.launchers:
        backend, nodes = _said(one, ("rdzv_backend",)), _said(one, ("nnodes",))
        if one.name != "torchrun" or backend is None or nodes is None or backend.value.raw not in ("c10d", "etcd-v2"):
            continue
        several = nodes.value.raw.isdigit() and int(nodes.value.raw) > 1
        if several and _said(one, ("rdzv_endpoint", "standalone")) is None and _ENDPOINT not in launch.flags.text:
            message = f"{backend.value.raw} reads no master, and without `--rdzv_endpoint` each machine waits at home"
            data = {"advice": "write `--rdzv_endpoint` with the name and port of the first machine, the same on all"}
            yield Observation("machines", place(one.flags, backend, backend.key), "crash", message, data=data)
    yield from _old_number(launch)


def _old_number(launch: Launch) -> Iterator[Observation]:
    env = {one.name: one for one in launch.env}
    rank, nodes = env.get("RANK"), env.get("NNODES")
    if launch.program != "llamafactory-cli" or rank is None or nodes is None or "NODE_RANK" in env:
        return
    if rank.word.raw != "0" and nodes.word.raw != "1":
        message = "LLaMA-Factory reads NODE_RANK for the machine's number, and without it every machine is the first"
        span = launch.flags.span(rank.word.node)
        where = Value(rank.word.raw, key="RANK", pointer="/RANK", text=rank.word.raw, span=span)
        data = {"advice": f"write NODE_RANK={rank.word.raw} instead of RANK={rank.word.raw}"}
        yield Observation("machine-number", where, "crash", message, package="llamafactory", data=data)


def _reaches(text: str) -> bool:
    """Whether a script starts something on other machines, beside asking one for its name or its address."""
    return _REACHES.search(_ASKED.sub("", text)) is not None


def _said(launcher: Launcher, names: tuple[str, ...]) -> Pair | None:
    root = launcher.flags.root
    return next((pair for name in names if root is not None and (pair := root.pair(name)) is not None), None)


def _unreached(launch: Launch, launcher: Launcher, nodes: str) -> Iterator[Observation]:
    pair = _said(launcher, _COUNTS)
    if pair is not None and _FEWEST.match(pair.value.raw) is None:
        message = (
            f"no srun starts it, so of {nodes} machines only the first runs the launcher, and waits for the others"
        )
        data = {"advice": f"write srun before {launcher.name}, with `bash -c` round what each machine has to work out"}
        yield Observation("machines", place(launch.flags, pair, pair.key), "crash", message, data=data)


def _all_first(launcher: Launcher, text: str) -> Iterator[Observation]:
    pair = _said(launcher, _RANKS)
    if pair is None:
        return
    match = _RANK.search(text, pair.key_node.start, pair.value.end + 1)
    if match is not None and _expanded(text, match.start()):
        message = f"the batch script puts its own number, 0, in place of {match[0]}, so all are the first"
        data = {
            "advice": f"let each machine work it out in single quotes: srun bash -c '... --{pair.key} $SLURM_NODEID'"
        }
        yield Observation("machines", place(launcher.flags, pair, pair.key), "crash", message, data=data)


def _expanded(text: str, at: int) -> bool:
    """Whether the shell that reads the text expands a variable there: in no single quotes, behind no backslash."""
    quote, index = "", 0
    while index < at:
        one = text[index]
        if one == "\\" and quote != "'":
            index += 2
            continue
        if one == "#" and not quote and text[index - 1 : index] in ("", " ", "\t", "\n"):
            end = text.find("\n", index)
            index = end if end >= 0 else at
            continue
        if one in "'\"" and (not quote or quote == one):
            quote = "" if quote else one
        index += 1
    return index == at and quote != "'"
