"""What standard output can show."""

from __future__ import annotations

import os
import sys

_WIDEST = 100  # longer lines of prose are hard to read


def color() -> bool:
    """Whether to write in colour: at a terminal or with FORCE_COLOR, never with NO_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout is not None and sys.stdout.isatty())


def width() -> int:
    """Columns for prose: those of the terminal, at most 100; 100 in a pipe."""
    import shutil

    return max(40, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))
