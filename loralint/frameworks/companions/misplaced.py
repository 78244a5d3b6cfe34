"""A launcher's options behind the script's name, where they go to the script."""

from __future__ import annotations

from collections.abc import Mapping

from loralint.frameworks.launched import Launch
from loralint.frameworks.observe import place
from loralint.model import Observation

# Options that no script of a trainer's own has; `mixed_precision` or `config_file` may well be the script's.
_OWN: Mapping[str, frozenset[str]] = {
    "accelerate": frozenset({
        "num_processes", "num_machines", "machine_rank", "main_process_ip", "main_process_port", "multi_gpu", "gpu_ids",
        "use_deepspeed", "use_fsdp", "deepspeed_config_file", "zero_stage", "dynamo_backend",
        "num_cpu_threads_per_process",
    }),
    "torchrun": frozenset({"nproc_per_node", "nnodes", "node_rank", "master_addr", "rdzv_backend", "rdzv_endpoint"}),
    "deepspeed": frozenset({"num_gpus", "num_nodes", "include", "exclude", "hostfile"}),
}  # fmt: skip


def misplaced(launch: Launch) -> list[Observation]:
    """One observation for each option of the innermost launcher that stands behind the script.

    A program that is no script (`trl`, `swift`) may hand options on to its launcher, so it has none.
    """
    root = launch.flags.root
    if root is None or not launch.launchers or launch.script is None:
        return []
    name = launch.launchers[-1].name
    own = _OWN.get(name, frozenset())
    found = [pair for pair in root.pairs if pair.key.replace("-", "_") in own]
    said = f"it stands behind the script's name, so that {name} never sees it"
    return [
        Observation("misplaced", place(launch.flags, pair, pair.key), "lost", said, data={"by": name}) for pair in found
    ]
