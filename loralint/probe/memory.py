"""Whether an error means that memory ran out, which torch says in several ways."""

from __future__ import annotations

import torch


def no_memory(error: BaseException) -> bool:
    """Python and a GPU have errors of their own for it, a CPU has a sentence."""
    known = isinstance(error, (MemoryError, torch.OutOfMemoryError))
    return known or (isinstance(error, RuntimeError) and "allocate memory" in str(error))
