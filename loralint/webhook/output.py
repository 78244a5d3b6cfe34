"""Standard output as a service needs it: a log that nobody reads, or that has no room, must not hold up an answer."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import sys
import threading
from collections.abc import Callable

_WAITING = 4096  # lines; what comes in a burst, and some 2 MB
_SECONDS = 1.0  # for what still waits at the end


def keep_numbers() -> None:
    """Have 0, 1 and 2 taken where a standard file was closed: the event loop aborts where a socket gets one of them."""
    while (file := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(file)


def _number() -> int | None:
    """The number of standard output; None where it was closed at the start, and belongs to some other file by now, or
    where the caller has put something else in its place.
    """
    try:
        return sys.stdout.fileno() if sys.stdout else None
    except io.UnsupportedOperation:
        return None


class Output:
    """Takes lines without waiting, and writes them from a thread. dropped: called for each that cannot be written."""

    def __init__(self, dropped: Callable[[], None]) -> None:
        self._dropped = dropped
        self._lines: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._file = _number()
        self._thread = threading.Thread(target=self._run, daemon=True)  # one that is stuck must not outlive the rest
        self._thread.start()

    def __call__(self, line: str) -> None:
        """Have a line written."""
        try:
            self._lines.put_nowait(f"{line}\n".encode())
        except queue.Full:
            self._dropped()

    def close(self) -> None:
        """Wait a little until all is written."""
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=_SECONDS)
            self._thread.join(_SECONDS)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._write(line)
            except OSError:
                self._dropped()

    def _write(self, line: bytes) -> None:
        if self._file is None:
            raise OSError
        while line:
            line = line[os.write(self._file, line) :]
