"""Launches that one script leaves running side by side, and that all wait at one port of the machine.

Sources: torch 2.13.0 distributed/run.py (`--master_port` is 29500, which no variable of the environment replaces);
DeepSpeed 0.18 launcher/constants.py (TORCH_DISTRIBUTED_DEFAULT_PORT); modelscope/ms-swift@3602360 cli/main.py (torchrun
where NPROC_PER_NODE is set, with MASTER_PORT if that is given). accelerate looks for another port by itself since 1.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loralint.frameworks.launched import Launch, Launcher
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.document import Document

_DEFAULT = "29500"
_PORTS = ("master_port", "master-port")
_MEETS = ("rdzv_endpoint", "standalone", "rdzv_backend")  # with any of these the port is another, or a free one
# what starts a command on another machine, or in a network of its own
_ELSEWHERE = re.compile(r"\b(?:srun|ssh|mpirun|pdsh|docker|podman|kubectl|sbatch)\b")
_WAITS = re.compile(r"^[ \t]*wait\b", re.MULTILINE)
_MOST = 4000  # characters of a line: a notebook is one
_LINE = re.compile(rf"(?:[^\\\n]|\\[\s\S]){{0,{_MOST}}}")
_LEFT = re.compile(r"(?<![&>|])&[ \t]*(?:#.*)?\Z")


def clashing(found: Sequence[Launch], document: Document) -> Iterator[Observation]:
    """One for each that starts while another one holds its port."""
    text = document.text
    running: dict[str, Launch] = {}
    before = 0
    for launch in found:
        if _WAITS.search(text, before, launch.offset):
            running.clear()
        before = launch.offset
        port = _port(launch)
        if not port:
            continue
        line = _LINE.match(text, launch.offset)
        written = line[0] if line is not None else ""
        if _ELSEWHERE.search(_front(text, launch.offset) + written):
            continue
        if port in running:
            yield _told(document, launch, port)
        elif _LEFT.search(written.rstrip()):
            running[port] = launch


def _front(text: str, at: int) -> str:
    """What stands before a place in its line."""
    start = max(0, at - _MOST)
    return text[start:at].rpartition("\n")[2]


def _port(launch: Launch) -> str:
    """The port that a launch waits at; empty where it may be any, or is not known."""
    env = {one.name: one.word.raw for one in launch.env}
    if launch.program == "swift" and "NPROC_PER_NODE" in env:
        return env.get("MASTER_PORT", _DEFAULT) if "$" not in env.get("MASTER_PORT", "") else ""
    own = next((one for one in launch.launchers if one.name in ("torchrun", "deepspeed")), None)
    return _of_launcher(own) if own is not None else ""


def _of_launcher(own: Launcher) -> str:
    root = own.flags.root
    if root is None or any(root.pair(name) for name in _MEETS):
        return ""
    given = next((pair for name in _PORTS if (pair := root.pair(name)) is not None), None)
    raw = given.value.raw if given is not None else _DEFAULT
    return raw if raw.isdigit() and raw != "0" else ""


def _told(document: Document, launch: Launch, port: str) -> Observation:
    swift = launch.program == "swift"
    name = (
        launch.program if swift else next(one.name for one in launch.launchers if one.name in ("torchrun", "deepspeed"))
    )
    own = "MASTER_PORT" if swift else "--master_port"
    start = document.text.find(name, launch.offset)
    where = Value(None, key=own.lstrip("-"), span=document.span_at(start, start + len(name)))
    other = int(port) + 1
    advice = f"give this one a port of its own: {f'{own}={other}' if swift else f'{name} {own} {other}'}"
    message = f"another launch of this script still runs and holds port {port}, at which {name} waits too"
    return Observation("port-taken", where, "crash", message, data={"advice": advice})
