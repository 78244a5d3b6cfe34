"""ConfigMaps that a job mounts, as the cluster has them: single GETs in the job's own namespace, and nothing else."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from loralint.webhook.objects import MOST_MAPS, MapFiles, map_files
from loralint.webhook.way import way

if TYPE_CHECKING:
    from lightkube import AsyncClient

# Names as the server takes them; any other could lead the path of the request elsewhere.
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
# Seconds that all maps of one review may take, and that an answer is kept.
SECONDS, _KEPT = 0.4, 5.0
_MOST_KEPT = 200
# A map of the server: its JSON, or the HTTP status by which it was refused.
Get = Callable[[str, str], Awaitable["dict[str, object] | int"]]


class Looked(NamedTuple):
    """maps: those that are there. missing: names of those that are not; results: what became of each, as counted."""

    maps: tuple[MapFiles, ...] = ()
    missing: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


class Lookup:
    """Asks for each map once at a time, and keeps what it was told for some seconds."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self._kept: OrderedDict[tuple[str, str], tuple[float, MapFiles | str]] = OrderedDict()
        self._asked: dict[tuple[str, str], asyncio.Task[MapFiles | str]] = {}

    async def maps(self, namespace: str, names: tuple[str, ...]) -> Looked:
        """The first maps of a job. What cannot be had in time is left out."""
        chosen = [name for name in names if _NAME.fullmatch(name)][:MOST_MAPS]
        if not chosen or not _NAMESPACE.fullmatch(namespace):
            return Looked()
        tasks = [self._task(namespace, name) for name in chosen]
        await asyncio.wait(tasks, timeout=SECONDS)
        found = [task.result() if task.done() else "timeout" for task in tasks]
        return Looked(
            tuple(one for one in found if isinstance(one, MapFiles)),
            tuple(name for name, one in zip(chosen, found, strict=True) if one == "missing"),
            tuple(one if isinstance(one, str) else "found" for one in found),
        )

    def _task(self, namespace: str, name: str) -> asyncio.Task[MapFiles | str]:
        key = namespace, name
        if key not in self._asked:
            task = asyncio.get_running_loop().create_task(self._ask(*key))
            self._asked[key] = task
            task.add_done_callback(lambda _: self._asked.pop(key, None))
        return self._asked[key]

    async def _ask(self, namespace: str, name: str) -> MapFiles | str:
        key = namespace, name
        until, kept = self._kept.get(key, (0.0, ""))
        if until > monotonic():
            return kept
        found = _result(name, await self._answer(namespace, name))
        self._kept[key] = (monotonic() + _KEPT, found)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    async def _answer(self, namespace: str, name: str) -> dict[str, object] | int:
        try:
            return await asyncio.wait_for(self._get(namespace, name), SECONDS)
        except TimeoutError:
            return 408
        except Exception:  # noqa: BLE001 - whatever the server or the network does, a review goes on without the map
            return 0


def _result(name: str, answer: dict[str, object] | int) -> MapFiles | str:
    if not isinstance(answer, int):
        return map_files({**answer, "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    return {404: "missing", 401: "forbidden", 403: "forbidden", 408: "timeout"}.get(answer, "error")


def client(kubeconfig: str = "") -> AsyncClient:
    """A client by a kubeconfig, else by the service account of the pod. Raises ValueError, saying what is missing."""
    from lightkube import AsyncClient, KubeConfig
    from lightkube.core.exceptions import ConfigError

    try:
        config = way(partial(KubeConfig.from_file, kubeconfig) if kubeconfig else KubeConfig.from_service_account)
    except (ConfigError, OSError) as error:
        raise ValueError(f"no way to the API server: {error}") from None
    return AsyncClient(config=config, namespace="default")


def getter(asked: AsyncClient) -> Get:
    """How a map is asked of the server."""
    from lightkube import ApiError
    from lightkube.resources.core_v1 import ConfigMap

    async def get(namespace: str, name: str) -> dict[str, object] | int:
        try:
            found = await asked.get(ConfigMap, name, namespace=namespace)
        except ApiError as error:
            return int(error.status.code or 0)
        return {"data": found.data or {}, "binaryData": found.binaryData or {}}

    return get
