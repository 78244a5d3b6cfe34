"""How much of a shell text is read."""

from __future__ import annotations

from loralint.source.document import Fault

# The longest launch script known to us has 20 KiB.
LENGTH = 64 * 1024


def bound(text: str) -> None:
    """Raise Fault for a text that is no launch script by its size."""
    if len(text) > LENGTH:
        raise Fault("too-large", f"more than {LENGTH // 1024} KiB of shell: not a launch script", 0)
