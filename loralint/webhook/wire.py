"""What a worker is asked and answers: JSON behind its length, so that nothing of what it says is ever executed."""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

from loralint.webhook.judging import Judged, Task, Told
from loralint.webhook.objects import MapFiles
from loralint.webhook.patch import Patched
from loralint.webhook.review import Head, Request

HEADER = struct.Struct("!I")
# A review of the largest object that a server takes, old and new, and then some.
LIMIT = 32 * 1024 * 1024


class Options(NamedTuple):
    """What a worker has to know once. See `judging.webhook_job`."""

    gpu: str = ""
    target: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    pods: bool = False


def pack(message: dict[str, Any]) -> bytes:
    """A message with its length before it."""
    body = json.dumps(message).encode()
    return HEADER.pack(len(body)) + body


def options_of(raw: dict[str, Any]) -> Options:
    """What a worker was started with."""
    return Options(raw["gpu"], tuple(raw["target"]), tuple(raw["select"]), tuple(raw["ignore"]), raw["pods"])


def task_of(raw: dict[str, Any]) -> Task:
    """A task as it came over the wire."""
    return Task(raw["text"], raw["base"], tuple(MapFiles(*one) for one in raw["maps"]))


def judged_of(raw: dict[str, Any]) -> Judged:
    """A verdict as it came over the wire."""
    return Judged(tuple(Told(*one) for one in raw["findings"]), raw["trains"], tuple(raw["unread"]))


def patched_of(raw: dict[str, Any]) -> Patched:
    """A patch as it came over the wire."""
    return Patched(raw["texts"], tuple(raw["rules"]))


def request_of(raw: dict[str, Any]) -> Request:
    """A review that a worker read."""
    head = dict(raw["head"])
    head["parent"] = tuple(head["parent"]) if head["parent"] else None
    given = {**raw, "head": Head(**head), "maps": tuple(raw["maps"]), "large": tuple(raw["large"])}
    return Request(**given)
