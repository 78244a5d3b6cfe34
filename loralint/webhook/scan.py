"""What lies in a cluster and would be refused or warned of today: what came while nobody looked."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from loralint.engine.lint import Job
from loralint.webhook.judging import Task, Told, judge
from loralint.webhook.objects import (
    CONFIG_MAP,
    MapFiles,
    Object,
    TooLargeError,
    manifest,
    map_files,
    mapping,
    unread,
    wanted_maps,
)
from loralint.webhook.references import Wanted, lent_by, referred
from loralint.webhook.resources import WORKLOADS, Resource
from loralint.webhook.stored import Unlisted, holds_config, is_open
from loralint.webhook.worker import place_in_code

MAPS = Resource(*CONFIG_MAP)
# How the objects of a kind are had, and one by its name or why not: a client's ways, or a test's own.
List = Callable[[Resource], Iterable["Object | Unlisted"]]
Get = Callable[[str, Wanted], "Object | str"]
# Runtimes and templates that are kept, since many workloads refer to few.
_MOST_KEPT = 64


class Seen(NamedTuple):
    """One object that was judged, or why it was not. findings: what stands, gravest first."""

    namespace: str
    api_version: str
    kind: str
    name: str
    uid: str
    findings: tuple[Told, ...] = ()
    not_checked: str = ""


class _Waiting(NamedTuple):
    """A workload until the maps that it mounts are known."""

    seen: Seen
    task: Task
    maps: tuple[tuple[str, str], ...]


def scan(having: List, get: Get, job: Job, *, without: Container[str] = ()) -> Iterator[Seen | Unlisted]:
    """Judge all maps with configs, and all workloads that have not ended with the maps that they mount.

    Of the maps only those that a workload mounts are kept.
    """
    waiting: list[_Waiting] = []
    get = lru_cache(maxsize=_MOST_KEPT)(get)
    for resource in WORKLOADS:
        for one in having(resource) if resource.is_namespaced else ():
            if isinstance(one, Unlisted):
                yield one
            elif _namespace(one) not in without and is_open(one):
                yield from _taken(one, get, waiting)
    wanted = {key for one in waiting for key in one.maps}
    kept: dict[tuple[str, str], MapFiles] = {}
    for one in having(MAPS):
        if isinstance(one, Unlisted):
            yield one
        elif _namespace(one) not in without:
            yield from _map(one, job)
            key = _namespace(one), _seen(one).name
            if key in wanted:
                kept[key] = map_files(one)
    for late in waiting:
        maps = tuple(kept[key] for key in late.maps if key in kept)
        yield _judged(late.seen, late.task._replace(maps=maps), job)


def _taken(obj: Object, get: Get, waiting: list[_Waiting]) -> Iterator[Seen]:
    """Put a workload off until the maps are known; one that is too large is told at once."""
    seen = _seen(obj)
    answers = [(one, get(seen.namespace, one)) for one in referred(obj)]
    try:
        text, found = manifest(obj), tuple(lent_by(one, got) for one, got in answers if not isinstance(got, str))
    except TooLargeError as error:
        yield seen._replace(not_checked=str(error))
        return
    seen = seen._replace(not_checked="; ".join(got for _, got in answers if isinstance(got, str)))
    names = dict.fromkeys([*wanted_maps(obj), *(name for one in found for name in one.maps)])
    waiting.append(_Waiting(seen, Task(text, "", (), found), tuple((seen.namespace, name) for name in names)))


def _map(obj: Object, job: Job) -> Iterator[Seen]:
    if not holds_config(obj) or mapping(obj.get("metadata")).get("deletionTimestamp"):
        return
    seen = _seen(obj)
    try:
        text = manifest(obj)
    except TooLargeError as error:
        yield seen._replace(not_checked=str(error))
        return
    yield _judged(seen._replace(not_checked="; ".join(unread(obj))), Task(text), job)


def _judged(seen: Seen, task: Task, job: Job) -> Seen:
    """One object that makes us fail must not end the scan of all others; the error's text may quote it."""
    try:
        return seen._replace(findings=judge(task, job).findings)
    except Exception as error:  # noqa: BLE001 - whatever it is, the next object is judged
        return seen._replace(not_checked=f"an internal error of loralint: {place_in_code(error)}")


def _seen(obj: Object) -> Seen:
    meta = mapping(obj.get("metadata"))
    name, uid = str(meta.get("name") or ""), str(meta.get("uid") or "")
    return Seen(_namespace(obj), str(obj.get("apiVersion")), str(obj.get("kind")), name, uid)


def _namespace(obj: Object) -> str:
    return str(mapping(obj.get("metadata")).get("namespace") or "")
