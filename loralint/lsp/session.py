"""Which buffers are open, what was last said of each, and when to look again; all looking is done by one thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lsprotocol import types

from loralint.lsp.buffer import Buffer
from loralint.lsp.diagnostics import diagnostics
from loralint.lsp.judging import Around, Judged, judge
from loralint.lsp.places import Places, Sight

T = TypeVar("T")
# Seconds without a keystroke after which a buffer is looked at.
PAUSE = 0.25


class Session:
    """All state lives in the event loop's thread. publish: shows diagnostics (URI, version or None, what).

    log: takes a line on what nobody foresaw; folder: of a path, the folder of the workspace around it.
    """

    def __init__(
        self,
        publish: Callable[[str, int | None, list[types.Diagnostic]], None],
        log: Callable[[str], None],
        folder: Callable[[str], str],
    ) -> None:
        self.encoding = "utf-16"
        self._publish = publish
        self._log = log
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, "loralint")
        self._buffers: dict[str, Buffer] = {}
        self._judged: dict[str, Judged] = {}
        self._shown: dict[str, dict[str, list[types.Diagnostic]]] = {}  # by the buffer that says it
        self._pending: dict[str, asyncio.Task[None]] = {}

    def put(self, buffer: Buffer, pause: float) -> None:
        """Take a buffer's new text; it and the runs that read it are looked at after the pause."""
        self._buffers[buffer.uri] = buffer
        self._look_later(buffer.uri, pause)
        for uri in self._readers(buffer.uri):
            self._look_later(uri, pause)

    def close(self, uri: str) -> None:
        """Forget a buffer, and take back what it said."""
        if self._buffers.pop(uri, None) is None:
            return
        if (task := self._pending.pop(uri, None)) is not None:
            task.cancel()
        self._judged.pop(uri, None)
        for target in self._shown.pop(uri, {}):
            self._show(target)
        self.look_again(PAUSE)  # what its unsaved text was part of

    def look_again(self, pause: float) -> None:
        """Look at every buffer anew: the settings, or other files around them, have changed."""
        for uri in self._buffers:
            self._look_later(uri, pause)

    def end(self) -> None:
        """Begin nothing more."""
        for task in self._pending.values():
            task.cancel()
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def sights(self, uri: str) -> list[Sight]:
        """The buffer as it is now, as each run sees it that reads it; without the pause, which is for typing."""
        if uri not in self._buffers:
            return []
        real = self._buffers[uri].real
        looks = [await self._newest(one) for one in self._readers(uri) or [uri]]
        return [Sight(one, self.places(one), name) for one in looks if one is not None and (name := one.name(real))]

    def _readers(self, uri: str) -> list[str]:
        """The other buffers whose runs read this one."""
        real = self._buffers[uri].real
        return [other for other, judged in self._judged.items() if other != uri and real in judged.files]

    async def _newest(self, uri: str) -> Judged | None:
        """What is said of a buffer as it is now."""
        judged = self._judged.get(uri)
        if judged is None or judged.buffer != self._buffers[uri]:
            self._look_later(uri, 0)
            await asyncio.wait([self._pending[uri]])
            judged = self._judged.get(uri)
        return judged if judged is not None and judged.buffer == self._buffers.get(uri) else None

    def places(self, judged: Judged) -> Places:
        """The places of what was said, in this editor's columns."""
        buffers = list(self._buffers.values())  # in one step, since the worker asks too
        open_ = {one.real: (one.uri, one.version) for one in buffers}
        return Places(judged, self.encoding, open_)

    async def work(self, what: str, function: Callable[[], T]) -> T | None:
        """Do something in the worker. None where it failed, which is logged by its place in our code alone: the error's
        own text may hold a piece of the config.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, function)
        except Exception as error:  # noqa: BLE001 - a server outlives every fault of a look
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "nowhere"
            self._log(f"internal error while {what}: {type(error).__name__} at {place}; please report it")
            return None

    def _look_later(self, uri: str, pause: float) -> None:
        if (old := self._pending.get(uri)) is not None:
            old.cancel()
        self._pending[uri] = asyncio.get_running_loop().create_task(self._look(uri, pause))

    async def _look(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        buffer = self._buffers[uri]
        texts = {one.real: one.text for one in self._buffers.values() if one.uri != uri}
        around, places = Around(self._folder(buffer.path), texts), self.places

        def look() -> tuple[Judged, dict[str, list[types.Diagnostic]]]:
            judged = judge(buffer, around)
            return judged, diagnostics(judged, places(judged))

        found = await self.work("linting", look)
        if found is None or self._buffers.get(uri) != buffer:
            return
        before, (self._judged[uri], self._shown[uri]) = self._shown.get(uri, {}), found
        for target in {**before, **self._shown[uri]}:
            self._show(target)

    def _show(self, target: str) -> None:
        """Show all that the buffers say of a file. One that is part of another's run says nothing of its own."""
        buffer = self._buffers.get(target)
        claimed = buffer is not None and bool(self._readers(target))
        said: list[types.Diagnostic] = []
        for uri, shown in self._shown.items():
            if not (claimed and uri == target):
                said += [one for one in shown.get(target, ()) if one not in said]
        self._publish(target, buffer.version if buffer is not None else None, said)
