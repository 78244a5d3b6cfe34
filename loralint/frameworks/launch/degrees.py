"""Ways to split a model and its rows over processes that are more than the launcher starts.

Source: huggingface/finetrainers#408 (World size 2 must be divisible by the product of all parallel degrees).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from loralint.frameworks.launched import Launch
from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.source.document import Node

_DEGREES = ("pp_degree", "dp_degree", "dp_shards", "cp_degree", "tp_degree")
_OWN = ("dp_shards", "training_type", "dataset_config")  # by which flags are those of finetrainers


def divided(launch: Launch) -> Iterator[Observation]:
    """Observe degrees of finetrainers whose product does not divide the number of processes."""
    root = launch.flags.root
    count = _processes(launch)
    if root is None or count is None or not all(root.pair(key) for key in _OWN):
        return
    found = [pair for key in _DEGREES if (pair := root.pair(key)) is not None]
    numbers = [_number(pair.value) for pair in found]
    if not found or None in numbers:
        return
    product = math.prod(one for one in numbers if one is not None)
    if product and count % product:
        largest = max(found, key=lambda pair: _number(pair.value) or 0)
        written = " x ".join(str(one) for one in numbers if one != 1)
        message = f"the degrees make {written} = {product}, which {count} processes cannot be divided by"
        data = {"advice": f"choose degrees whose product is {count}, or start {product} processes"}
        yield Observation(
            "rejected", place(launch.flags, largest, largest.key), "crash", message, package="finetrainers", data=data
        )


def _processes(launch: Launch) -> int | None:
    """How many processes torchrun or accelerate start in all; None where they do not say so."""
    own = next((one for one in launch.launchers if one.name in ("torchrun", "accelerate")), None)
    root = own.flags.root if own is not None else None
    if own is None or root is None:
        return None
    if own.name == "accelerate":
        return _number(root.get("num_processes"))
    nodes = root.get("nnodes")
    each, machines = _number(root.get("nproc_per_node")), 1 if nodes is None else _number(nodes)
    return each * machines if each is not None and machines is not None else None


def _number(node: Node | None) -> int | None:
    return int(node.raw) if node is not None and node.kind == "scalar" and node.raw.isdecimal() else None
