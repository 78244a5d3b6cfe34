"""Options of the `deepspeed` launcher.

Source: deepspeedai/DeepSpeed@edaa722 deepspeed/launcher/runner.py.
"""

from __future__ import annotations

from loralint.frameworks.convert import never
from loralint.frameworks.readers.accelerate import count
from loralint.frameworks.readers.launch import named
from loralint.frameworks.table import SKIP, Entry, Reader


def slots(given: object) -> object:
    """Count the GPUs of `--include localhost:4,5`; several hosts, or one without a list, say no number."""
    if not isinstance(given, str) or "@" in given or ":" not in given:
        return SKIP
    return len([slot for slot in given.rpartition(":")[2].split(",") if slot.strip().isdigit()]) or SKIP


TABLE: tuple[Entry, ...] = (
    Entry("dist.launcher_processes_per_node", "num_gpus", count),
    Entry("dist.launcher_processes_per_node", "include", slots, never),
    Entry("dist.launcher_nodes", "num_nodes", count),
)

READER = Reader(
    name="deepspeed",
    title="the deepspeed launcher",
    dialect="flags",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("deepspeed",),
    combine=named("deepspeed"),
)
