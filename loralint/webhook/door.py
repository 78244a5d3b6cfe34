"""Where connections come in: TLS is agreed upon here, by few at a time and not for long.

The event loops do this too, but with no bound on how many are at it: each takes 50 KB for the minute it may be silent.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable

# Connections that have not agreed yet, and the seconds they have for it; an API server takes milliseconds.
_AGREEING, _SECONDS = 256, 5.0
# Seconds until it is tried again where the process may open no more files.
_PAUSE = 0.05


class Door:
    """Takes connections of a port until it is closed; asked as uvicorn asks the servers of its event loop."""

    def __init__(
        self, at: socket.socket, protocol: Callable[[], asyncio.Protocol], context: ssl.SSLContext | None
    ) -> None:
        at.setblocking(False)
        self._at = at
        self._protocol = protocol
        self._context = context
        self._agreeing: dict[asyncio.Task[None], None] = {}  # the oldest first
        self._loop = asyncio.get_running_loop()
        self._taking = self._loop.create_task(self._take())

    def close(self) -> None:
        """Take no more."""
        self._taking.cancel()

    async def wait_closed(self) -> None:
        """Wait until no more can come of what was taken."""
        for one in list(self._agreeing):
            one.cancel()
        await asyncio.gather(self._taking, *self._agreeing, return_exceptions=True)

    async def _take(self) -> None:
        while True:
            try:
                taken, _ = await self._loop.sock_accept(self._at)
            except OSError:  # no file is left, or the other side is gone already
                await asyncio.sleep(_PAUSE)
                continue
            if len(self._agreeing) >= _AGREEING:
                oldest = next(iter(self._agreeing))
                self._agreeing.pop(oldest)  # it needs a while to end, in which more may come
                oldest.cancel()
            task = self._loop.create_task(self._agree(taken))
            self._agreeing[task] = None
            task.add_done_callback(lambda done: self._agreeing.pop(done, None))

    async def _agree(self, taken: socket.socket) -> None:
        seconds = _SECONDS if self._context else None
        try:
            await self._loop.connect_accepted_socket(
                self._protocol, taken, ssl=self._context, ssl_handshake_timeout=seconds
            )
        except OSError:  # TLS that was not agreed upon, in time or at all
            taken.close()
