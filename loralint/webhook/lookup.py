"""What a job mounts and refers to, as the cluster has it: single GETs in the job's own namespace, and nothing else.

Runtimes and templates of the whole cluster have no namespace.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from time import monotonic
from typing import NamedTuple

from loralint.webhook.asking import Get
from loralint.webhook.objects import CONFIG_MAP, MOST_MAPS, Lent, MapFiles, TooLargeError, map_files
from loralint.webhook.references import Wanted, config_map, lent_by
from loralint.webhook.resources import NAME, NAMESPACE

# Seconds that all maps of one review may take, or what it refers to, and that an answer is kept.
SECONDS, _KEPT = 0.4, 5.0
_MOST_KEPT = 200
# What was found of an object, or what became of the question.
_Found = MapFiles | Lent | str


class Looked(NamedTuple):
    """maps, lent: those that are there. unseen: the others, and what became of each; results: of all, as counted.

    kept: whether one of them was asked for before this. beyond: more than one review asks for.
    """

    maps: tuple[MapFiles, ...] = ()
    lent: tuple[Lent, ...] = ()
    unseen: tuple[tuple[Wanted, str], ...] = ()
    results: tuple[str, ...] = ()
    kept: bool = False
    beyond: tuple[Wanted, ...] = ()

    def and_also(self, other: Looked) -> Looked:
        """Both together."""
        return Looked(
            self.maps + other.maps, self.lent + other.lent,
            self.unseen + other.unseen, self.results + other.results, self.kept or other.kept,
            self.beyond + other.beyond,
        )  # fmt: skip


class Lookup:
    """Asks for each object once at a time, and keeps what it was told for some seconds."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self._kept: OrderedDict[tuple[str, Wanted], tuple[float, _Found]] = OrderedDict()
        self._asked: dict[tuple[str, Wanted], asyncio.Task[_Found]] = {}

    async def objects(self, namespace: str, several: tuple[Wanted, ...], *, fresh: bool = False) -> Looked:
        """The first of several objects. What cannot be had in time is left out. fresh: whatever is kept of them."""
        asked = [one for one in several if NAME.fullmatch(one.name)]
        chosen = asked[:MOST_MAPS]
        if not chosen or not NAMESPACE.fullmatch(namespace):
            return Looked()
        for one in chosen if fresh else ():
            self._kept.pop((namespace, one), None)
        kept = any(self._kept_of((namespace, one)) is not None for one in chosen)
        tasks = [self._task(namespace, one) for one in chosen]
        await asyncio.wait(tasks, timeout=SECONDS)
        found = [task.result() if task.done() else "timeout" for task in tasks]
        return Looked(
            tuple(one for one in found if isinstance(one, MapFiles)),
            tuple(one for one in found if isinstance(one, Lent)),
            tuple((wanted, one) for wanted, one in zip(chosen, found, strict=True) if isinstance(one, str)),
            tuple(one if isinstance(one, str) else "found" for one in found),
            kept,
            tuple(asked[MOST_MAPS:]),
        )

    def _kept_of(self, key: tuple[str, Wanted]) -> _Found | None:
        until, found = self._kept.get(key, (0.0, ""))
        return found if until > monotonic() else None

    def _task(self, namespace: str, wanted: Wanted) -> asyncio.Task[_Found]:
        key = namespace, wanted
        if key not in self._asked:
            task = asyncio.get_running_loop().create_task(self._ask(*key))
            self._asked[key] = task
            task.add_done_callback(lambda _: self._asked.pop(key, None))
        return self._asked[key]

    async def _ask(self, namespace: str, wanted: Wanted) -> _Found:
        key = namespace, wanted
        kept = self._kept_of(key)
        if kept is not None:
            return kept
        found = _result(wanted, await self._answer(namespace, wanted))
        self._kept[key] = (monotonic() + _KEPT, found)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    async def _answer(self, namespace: str, wanted: Wanted) -> dict[str, object] | int:
        try:
            return await asyncio.wait_for(self._get(namespace, wanted), SECONDS)
        except TimeoutError:
            return 408
        except Exception:  # noqa: BLE001 - whatever the server or the network does, a review goes on without the object
            return 0


_WHY = {
    "forbidden": "this service may not read it",
    "timeout": "the API server did not answer in time",
    "error": "it could not be read",
}


def beyond(several: tuple[Wanted, ...]) -> str:
    """What was not even asked for, in a clause."""
    count, first = len(several), several[0]
    others = f" and {count - 1} more" if count > 1 else ""
    return f"{first.kind} `{first.name}`{others}: of one job the first {MOST_MAPS} are looked up"


def unseen(wanted: Wanted, result: str) -> str:
    """Why an object could not be looked at, in a clause."""
    name = f"{wanted.kind} `{wanted.name}`"
    if result != "missing":
        return f"{name}: {_WHY[result]}"
    if wanted.resource == CONFIG_MAP:
        return f"{name} is not there yet; it is checked when it is created"
    return f"{name} is not there, so what it brings is not known"


def _result(wanted: Wanted, answer: dict[str, object] | int) -> _Found:
    if isinstance(answer, int):
        return {404: "missing", 401: "forbidden", 403: "forbidden", 408: "timeout"}.get(answer, "error")
    named = f"{wanted.group}/{wanted.version}".lstrip("/")
    obj = {**answer, "apiVersion": named, "kind": wanted.kind, "metadata": {"name": wanted.name}}
    try:
        return map_files(obj) if wanted == config_map(wanted.name) else lent_by(wanted, obj)
    except TooLargeError:
        return "error"
