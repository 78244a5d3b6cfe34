"""ms-swift 4's Ray pipeline: `megatron rlhf --use_ray true --config FILE`, Megatron's arguments shared and by role.

What stands at the root goes for every role, and the section of a role wins for it; the one that trains is `train`. An
argument that no role knows gets a warning and nothing else, so that no key is refused here.
Source: ms-swift 4.6.0 `ray/megatron/driver_utils.py` and `examples/ray`.
"""

from __future__ import annotations

from loralint.frameworks.convert import never
from loralint.frameworks.readers.ms_swift_megatron import READER as MEGATRON

READER = MEGATRON._replace(
    table=(
        *(row._replace(key=f"train.{row.key}", write=never) for row in MEGATRON.table if row.key),
        *MEGATRON.table,
    ),
    keys="",
    observe=(),
)
