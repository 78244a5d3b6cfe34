"""How many requests are answered at a time; the rest is told to come again."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from loralint.webhook.connections import CONNECTIONS

# With some that have just given way and are about to end.
_ANSWERED = CONNECTIONS + 100
_FULL = PlainTextResponse("too many requests at the same time", 503, {"connection": "close"})


class Crowd:
    """An app behind a bound. refused: called for each request that it keeps away."""

    def __init__(self, app: Starlette, refused: Callable[[], None]) -> None:
        self._app = app
        self._refused = refused
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or 503."""
        if self._inside >= _ANSWERED:
            self._refused()
            await _FULL(scope, receive, send)
            return
        self._inside += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._inside -= 1
