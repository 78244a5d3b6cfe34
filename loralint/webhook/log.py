"""Logs: one JSON object a line on standard output. Callers give names, codes and numbers, never what a config says."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

LEVELS = ("debug", "info", "error")


class Log:
    """Writes what is at least as grave as `level`."""

    def __init__(self, level: str = "info") -> None:
        self._from = LEVELS.index(level)

    def __call__(self, level: str, event: str, **fields: object) -> None:
        """Write a line."""
        if LEVELS.index(level) >= self._from:
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            said = {
                "time": time,
                "level": level,
                "event": event,
                **{key: one for key, one in fields.items() if one != ""},
            }
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()
