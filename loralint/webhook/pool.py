"""Worker processes in two lanes: quick for the many small objects, slow (and nice) for the few large ones."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, Protocol

from loralint.webhook.judging import Judged, Task
from loralint.webhook.patch import Patched
from loralint.webhook.review import BadReviewError, Request
from loralint.webhook.wire import HEADER, LIMIT, Options, judged_of, pack, patched_of, request_of

# Characters up to which an object goes to the quick lane: 16 KiB of YAML, and what stands around them, take 40 ms.
QUICK = 20 * 1024
# Seconds after which the quick lane gives a task to the slow one; none that trains takes a tenth.
_QUICK_SECONDS = 1.0
# Seconds that have to be left to begin at all.
_LEAST_SECONDS = 0.02
# What a worker judges before another one takes its place: caches and memory start anew.
_MOST_TASKS = 5000
_WAITING = {"quick": 64, "slow": 4}


class Unjudged(Exception):  # noqa: N818 - no error of ours: the object is let through, and why
    """Why an object was not judged: busy, deadline, crashed or internal. place: in our code, of the last."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


class Judge(Protocol):
    """Whoever judges: worker processes here, the process itself in tests."""

    def judge(self, task: Task, seconds: float) -> Coroutine[None, None, Judged]:
        """Judge an object. Raises Unjudged."""

    async def patch(self, data: dict[str, str], seconds: float) -> Patched:
        """Mend a map. Raises Unjudged."""

    async def read(self, body: bytes, seconds: float) -> Request:
        """Read a large review. Raises Unjudged and BadReviewError."""


class _Worker:
    """One process, which does one thing at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.done = 0
        self.is_busy = False

    @classmethod
    async def start(cls, options: Options, *, nice: bool) -> _Worker:
        """Start a process and wait until it has loaded the rules. Raises EOFError where it cannot."""
        given = json.dumps({**options._asdict(), "parent": os.getpid(), "nice": nice})
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "loralint.webhook.worker", given,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # a traceback may quote a config
            cwd=os.sep,
            env={"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))},
            limit=LIMIT,
        )  # fmt: skip
        worker = cls(process)
        try:
            await worker._answer()
        except BaseException:
            worker.kill()
            raise
        return worker

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and wait for the answer. Raises EOFError or OSError when the process ends instead."""
        assert self.process.stdin is not None
        self.process.stdin.write(pack(message))
        await self.process.stdin.drain()
        return await self._answer()

    async def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        header = await self.process.stdout.readexactly(HEADER.size)
        body = await self.process.stdout.readexactly(HEADER.unpack(header)[0])
        answer: dict[str, Any] = json.loads(body)
        return answer

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()


class Lane:
    """Workers that take tasks in the order they come. changed: told of every worker that ends, and why."""

    def __init__(self, name: str, size: int, options: Options, changed: Callable[[str], None]) -> None:
        self.name = name
        self.size = size
        self._options = options
        self._changed = changed
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._all: set[_Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._watching: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._closed = False

    async def open(self) -> None:
        """Start all workers."""
        await asyncio.gather(*(self._start() for _ in range(self.size)))

    async def close(self) -> None:
        """End all workers, and wait until they are gone."""
        self._closed = True
        for task in self._starting:
            task.cancel()
        for worker in self._all:
            worker.kill()
        await asyncio.gather(*self._starting, *self._watching, return_exceptions=True)

    @property
    def ready(self) -> int:
        """How many workers live and have loaded the rules."""
        return len(self._all)

    async def ask(self, message: dict[str, Any], seconds: float, most: float = 60.0) -> dict[str, Any]:
        """Have a worker do something; it is killed when the time is over. most: seconds of work, besides waiting.

        Raises Unjudged.
        """
        if seconds < _LEAST_SECONDS:
            raise Unjudged("deadline")
        until = monotonic() + seconds
        worker = await self._next(seconds)
        left = until - monotonic()
        if left < _LEAST_SECONDS:  # not worth a worker's life
            self._idle.put_nowait(worker)
            raise Unjudged("busy")
        worker.is_busy = True
        try:
            async with asyncio.timeout(min(left, most)):
                answer = await worker.ask(message)
        except TimeoutError:
            self._replace(worker, "deadline")
            raise Unjudged("deadline") from None
        except asyncio.CancelledError:  # whoever asked has gone
            self._replace(worker, "abandoned")
            raise
        except Exception:  # noqa: BLE001 - each event loop has errors of its own for a process that has ended
            self._replace(worker, "crashed")
            raise Unjudged("crashed") from None
        self._give_back(worker)
        return _checked(answer)

    async def _next(self, seconds: float) -> _Worker:
        if self._waiting >= _WAITING[self.name]:
            raise Unjudged("busy")
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                while (worker := await self._idle.get()) not in self._all:
                    pass  # it ended while nobody asked it anything
        except TimeoutError:
            raise Unjudged("busy") from None
        finally:
            self._waiting -= 1
        return worker

    def _give_back(self, worker: _Worker) -> None:
        worker.is_busy = False
        worker.done += 1
        if worker not in self._all:  # another one has taken its place
            worker.kill()
            return
        self._idle.put_nowait(worker)
        if worker.done == _MOST_TASKS:
            self._keep(self._starting, self._recycle(worker))

    async def _recycle(self, worker: _Worker) -> None:
        """Another worker first, then the end of this one, when it has nothing to do."""
        await self._restart()
        self._all.discard(worker)
        if not worker.is_busy:
            worker.kill()
        self._changed("recycled")

    def _replace(self, worker: _Worker, reason: str) -> None:
        """End a worker and start another, once."""
        if worker not in self._all or self._closed:
            return
        self._all.discard(worker)
        worker.kill()
        self._changed(reason)
        self._keep(self._starting, self._restart())

    @staticmethod
    def _keep(tasks: set[asyncio.Task[None]], work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _watch(self, worker: _Worker) -> None:
        """Notice a worker that ends by itself, or by the hand of the system."""
        await worker.process.wait()
        self._replace(worker, "crashed")

    async def _restart(self) -> None:
        """Start a worker, however often that takes: without memory for one, a second later there may be some."""
        while not self._closed:
            try:
                await self._start()
            except (EOFError, OSError):
                await asyncio.sleep(1)
            else:
                break

    async def _start(self) -> None:
        worker = await _Worker.start(self._options, nice=self.name == "slow")
        self._all.add(worker)
        self._keep(self._watching, self._watch(worker))
        self._idle.put_nowait(worker)


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if "bad" in answer:
        raise BadReviewError(answer["bad"])
    if "error" in answer:
        raise Unjudged("internal", answer["error"])
    return answer


class Pool:
    """Both lanes. changed: told of every worker that ends, and why."""

    def __init__(self, workers: int, options: Options, changed: Callable[[str], None] = lambda _: None) -> None:
        self.quick = Lane("quick", workers, options, changed)
        self.slow = Lane("slow", 1, options, changed)

    async def open(self) -> None:
        """Start all workers. Raises EOFError where they cannot start."""
        await asyncio.gather(self.quick.open(), self.slow.open())

    async def close(self) -> None:
        """End all workers."""
        await asyncio.gather(self.quick.close(), self.slow.close())

    @property
    def is_ready(self) -> bool:
        """Whether somebody can judge."""
        return self.quick.ready > 0

    async def judge(self, task: Task, seconds: float) -> Judged:
        """Judge an object. Raises Unjudged."""
        beside = [*(text for one in task.maps for text in one.data.values()), *(one.text for one in task.lent)]
        size = sum(map(len, [task.text, task.base, *beside]))
        return judged_of(await self._ask({"does": "judge", **task._asdict()}, size, seconds))

    async def patch(self, data: dict[str, str], seconds: float) -> Patched:
        """Mend a map. Raises Unjudged."""
        return patched_of(await self._ask({"does": "patch", "data": data}, sum(map(len, data.values())), seconds))

    async def read(self, body: bytes, seconds: float) -> Request:
        """Read a large review. Raises Unjudged and BadReviewError."""
        message = {"does": "read", "body": body.decode("utf-8", "surrogateescape")}
        return request_of(await self.slow.ask(message, seconds))

    async def _ask(self, message: dict[str, Any], size: int, seconds: float) -> dict[str, Any]:
        if size > QUICK:
            return await self.slow.ask(message, seconds)
        until = monotonic() + seconds
        try:
            return await self.quick.ask(message, seconds, _QUICK_SECONDS)
        except Unjudged as unjudged:
            left = until - monotonic()
            if unjudged.reason != "deadline" or left < _QUICK_SECONDS / 2:
                raise
            return await self.slow.ask(message, left)
