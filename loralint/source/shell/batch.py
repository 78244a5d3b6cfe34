"""Variables that Slurm sets for a batch script from what its directives ask for, as `SLURM_NTASKS_PER_NODE`.

Source: SchedMD/slurm doc/man/man1/sbatch.1 (OUTPUT ENVIRONMENT VARIABLES). Whoever hands the script in may ask for
something else on the command line; the file says this.
"""

from __future__ import annotations

import re

from loralint.source.command import Part
from loralint.source.shell.scope import Scope
from loralint.source.shell.words import Field

_SIGN = "#SBATCH"
_ASKED = re.compile(
    r"^#SBATCH[ \t]+(--nodes|-N|--ntasks-per-node|--ntasks|-n)[ \t=]*(\d{1,5})[ \t]*(?:#.*)?\r?$", re.MULTILINE
)
_SET = {
    "--nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "-N": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "--ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "--ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "-n": ("SLURM_NTASKS", "SLURM_NPROCS"),
}


def batch_scope(text: str, start: int) -> Scope:
    """What a script that stands at an offset begins with."""
    scope = Scope()
    for match in _ASKED.finditer(text) if _SIGN in text else ():
        at = start + match.start(2), start + match.end(2)
        for name in _SET[match[1]]:
            scope.names[name] = (Field((Part(match[2], *at),), *at),)
    return scope
