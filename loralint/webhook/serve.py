"""The service: two ports, the workers, the certificate, and an end without a lost review."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import NamedTuple

import uvicorn
from starlette.applications import Starlette

from loralint.webhook.admission import Admission, Policy
from loralint.webhook.app import admission_app, metrics_app
from loralint.webhook.asking import client, getter
from loralint.webhook.connections import Connection, allow_connections
from loralint.webhook.crowd import Crowd
from loralint.webhook.door import Door
from loralint.webhook.log import Libraries, Log
from loralint.webhook.lookup import Lookup
from loralint.webhook.metrics import Metrics
from loralint.webhook.output import Output, keep_numbers
from loralint.webhook.pool import Pool
from loralint.webhook.tls import Certificate
from loralint.webhook.wire import Options

# The API server ends idle connections after 90 seconds; it should be the first.
_KEEP_ALIVE = 120


class Listening(NamedTuple):
    """Where and how long. port, metrics_port: 0 of the latter for none; poll: seconds between looks at the certificate;
    delay, drain: seconds after a SIGTERM in which all is served as before, and in which the rest is finished.
    """

    host: str
    port: int
    metrics_port: int
    poll: float
    delay: float
    drain: float


class PortError(Exception):
    """A port that cannot be had, and why."""


class _Server(uvicorn.Server):
    """Leaves signals to the service, which has two of these, and connections to a door."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Let connections in."""
        made = partial(Connection, self.config, self.server_state, self.lifespan.state)
        self.servers = [Door(at, made, self.config.ssl) for at in sockets or ()]  # type: ignore[misc]
        self.started = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


class Service:
    """All that runs in the serving process. lookup: whether to ask the cluster, by `kubeconfig` or from inside."""

    def __init__(
        self, listening: Listening, certificate: Certificate, policy: Policy, options: Options, workers: int, level: str
    ) -> None:
        self._listening = listening
        self._certificate = certificate
        self._policy = policy
        self._metrics = Metrics()
        self._output = Output(self._metrics.dropped.inc)
        self._log = Log(level, self._output)
        self._pool = Pool(workers, options, self._worker_ended)
        self._stopping = asyncio.Event()

    async def run(self, kubeconfig: str | None) -> None:
        """Serve until SIGTERM or SIGINT. kubeconfig: None where nothing is looked up, "" for the pod's own account."""
        loop = asyncio.get_running_loop()
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, self._stopping.set)
        lookup = Lookup(getter(client(kubeconfig))) if kubeconfig is not None else None
        admission = Admission(self._policy, self._pool, lookup, metrics=self._metrics, log=self._log)
        apps = [(self._bounded(admission_app(admission, self._unready, self._stopping.is_set)), self._listening.port)]
        if self._listening.metrics_port:
            apps.append((self._bounded(metrics_app(self._metrics, self._unready)), self._listening.metrics_port))
        sockets = [_listen(self._listening.host, port) for _, port in apps]
        servers = [self._server(app, secure=not index) for index, (app, _) in enumerate(apps)]
        async with self._logging(), self._workers(), self._watching():
            await self._serve(servers, sockets)

    async def _serve(self, servers: list[_Server], sockets: list[socket.socket]) -> None:
        running = [asyncio.ensure_future(one.serve([at])) for one, at in zip(servers, sockets, strict=True)]
        self._log("info", "serving", port=self._listening.port, metrics_port=self._listening.metrics_port)
        stopping = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
        self._log("info", "draining")
        self._stopping.set()
        await asyncio.sleep(self._listening.delay)
        for one in servers:
            one.should_exit = True
        await asyncio.gather(*running)
        stopping.cancel()

    def _bounded(self, app: Starlette) -> Crowd:
        return Crowd(app, self._metrics.refused.inc)

    def _server(self, app: Crowd, *, secure: bool) -> _Server:
        config = uvicorn.Config(
            app, loop="none", http=Connection, ws="none", lifespan="off", log_config=None, access_log=False,
            timeout_keep_alive=_KEEP_ALIVE, timeout_graceful_shutdown=max(1, round(self._listening.drain)),
            server_header=False, date_header=False,
        )  # fmt: skip
        config.load()
        if secure:
            config.ssl = self._certificate.context
        return _Server(config)

    def _unready(self) -> str:
        if self._stopping.is_set():
            return "draining"
        if not self._certificate.is_valid:
            return "certificate expired"
        return "" if self._pool.is_ready else "workers starting"

    def _worker_ended(self, reason: str) -> None:
        self._metrics.restarts.labels(reason).inc()
        self._log("debug" if reason == "recycled" else "error", "worker ended", reason=reason)

    @contextlib.asynccontextmanager
    async def _logging(self) -> AsyncIterator[None]:
        libraries = Libraries(self._log)
        logging.getLogger().addHandler(libraries)
        try:
            yield
        finally:
            self._log("info", "stopped")
            logging.getLogger().removeHandler(libraries)
            self._output.close()

    @contextlib.asynccontextmanager
    async def _workers(self) -> AsyncIterator[None]:
        await self._pool.open()
        for lane in (self._pool.quick, self._pool.slow):
            self._metrics.workers.labels(lane.name).set_function(partial(getattr, lane, "ready"))
        try:
            yield
        finally:
            await self._pool.close()

    @contextlib.asynccontextmanager
    async def _watching(self) -> AsyncIterator[None]:
        self._metrics.expiry.labels("leaf").set_function(lambda: self._certificate.expires)
        task = asyncio.ensure_future(self._watch())
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self) -> None:
        told = ""
        while True:
            await asyncio.sleep(self._listening.poll)
            if self._certificate.reload():
                self._log("info", "certificate reloaded")
            if self._certificate.fault != told:
                told = self._certificate.fault
                self._log("error" if told else "info", "certificate", reason=told)


def _listen(host: str, port: int) -> socket.socket:
    """A port, taken before anything else starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=host == "::")
    except OSError as error:
        raise PortError((error.strerror or str(error)).lower()) from None


def serve(
    listening: Listening, certificate: Certificate, policy: Policy, options: Options, *, workers: int, level: str,
    kubeconfig: str | None,
) -> None:  # fmt: skip
    """Run the service to its end. Raises ValueError for a way to the cluster that cannot be had, and PortError."""

    async def run() -> None:
        await Service(listening, certificate, policy, options, workers, level).run(kubeconfig)

    keep_numbers()
    allow_connections()
    if sys.platform == "win32":
        asyncio.run(run())
    else:
        import uvloop

        uvloop.run(run())
