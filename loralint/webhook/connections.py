"""Connections: whoever reaches the port may open many, and must not keep the API server out by that."""

from __future__ import annotations

import asyncio
import contextlib
from typing import cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# More than an API server opens; what connects beside it shall not fill the memory.
CONNECTIONS = 1000
# Bytes that may come before a head is whole; one has some hundred, and what comes at once may hold a body as well.
_HEAD = 512 * 1024
# Requests that may wait behind one that is being answered: an API server sends none, and uvicorn takes any number.
_QUEUED = 16


def allow_connections() -> None:
    """Let the process have as many files open as there may be connections, and its own: containers often get 1,024."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * CONNECTIONS  # with those that are still at the door, and those that end
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Connection(HttpToolsProtocol):
    """One that gives its place up while it asks nothing, and whose head has an end."""

    since = 0.0  # when it came, began to ask or was answered last
    _head: int | None = 0  # bytes of a head that is not whole, None while there is none

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the place of whoever has kept us waiting longest, where all are taken."""
        self.since = self.loop.time()
        if len(self.connections) >= CONNECTIONS:
            idle = [one for one in cast("set[Connection]", self.connections) if one.is_idle]
            if idle:
                min(idle, key=lambda one: one.since).give_way()
        super().connection_made(transport)

    @property
    def is_idle(self) -> bool:
        """Whether no whole request is waiting for its answer."""
        return self.cycle is None or bool(self.cycle.response_complete or self.cycle.more_body)

    def give_way(self) -> None:
        """End at once, without the farewells of TLS, which the other side may keep waiting."""
        self.connections.discard(self)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came, but no head without an end."""
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > _HEAD:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """A head begins."""
        self.since = self.loop.time()
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head is whole."""
        self._head = None
        super().on_headers_complete()
        if len(self.pipeline) > _QUEUED:
            self.give_way()

    def on_response_complete(self) -> None:
        """An answer is out; from now on nothing is asked."""
        self.since = self.loop.time()
        super().on_response_complete()
