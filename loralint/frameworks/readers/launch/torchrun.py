"""Options of torchrun and of `python -m torch.distributed.run`.

Source: torch 2.13 distributed/run.py.
"""

from __future__ import annotations

from loralint.frameworks.convert import never
from loralint.frameworks.readers.accelerate import count
from loralint.frameworks.readers.launch import named
from loralint.frameworks.table import Entry, Reader

TABLE: tuple[Entry, ...] = (
    # `gpu`, `auto` and a range of nodes such as 1:4 say no number
    Entry("dist.launcher_processes_per_node", "nproc_per_node", count),
    Entry("dist.launcher_processes_per_node", "nproc-per-node", count, never),
    Entry("dist.launcher_nodes", "nnodes", count),
)

READER = Reader(
    name="torchrun",
    title="torchrun",
    dialect="flags",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("torch",),
    combine=named("torchrun"),
)
