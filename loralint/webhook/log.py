"""Logs: one JSON object a line. Callers give names, codes and numbers, never what a config says."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime

from loralint.webhook.worker import place_in_code

LEVELS = ("debug", "info", "error")


class Log:
    """Writes what is at least as grave as `level`."""

    def __init__(self, level: str = "info", write: Callable[[str], object] = print) -> None:
        self._from = LEVELS.index(level)
        self._write = write

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
            self._write(json.dumps(said))


class Libraries(logging.Handler):
    """What the server and the event loop have to say, on the same way: their own would be plain text, and may block."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Tell the text without what was put into it, and a fault by its place: both may quote a config."""
        error = record.exc_info[1] if record.exc_info else None
        level = "error" if record.levelno >= logging.ERROR else "info"
        said = str(record.msg).partition("\n")[0][:200]
        self._log(level, record.name, said=said, place=place_in_code(error) if error else "")
