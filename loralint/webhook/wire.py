"""What a worker is asked and answers: JSON behind its length, so that nothing of what it says is ever executed."""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

from loralint.webhook.judging import Judged, Task, Told
from loralint.webhook.objects import Lent, MapFiles
from loralint.webhook.patch import Patched
from loralint.webhook.references import Wanted
from loralint.webhook.review import Head, Request

HEADER = struct.Struct("!I")
# A review of the largest object that a server takes, old and new, and then some.
LIMIT = 32 * 1024 * 1024


class Options(NamedTuple):
    """What a worker has to know once. See `judging.webhook_job`. settings: the text of the file when we started."""

    gpu: str = ""
    target: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    pods: bool = False
    settings: str = ""
    settings_file: str = ""


def pack(message: dict[str, Any]) -> bytes:
    """A message with its length before it."""
    body = json.dumps(message).encode()
    return HEADER.pack(len(body)) + body


def options_of(raw: dict[str, Any]) -> Options:
    """What a worker was started with."""
    lists = {name: tuple(raw[name]) for name in ("target", "select", "ignore")}
    return Options(**{name: raw[name] for name in Options._fields} | lists)


def task_of(raw: dict[str, Any]) -> Task:
    """A task as it came over the wire."""
    lent = tuple(Lent(what, text, tuple(maps)) for what, text, maps in raw["lent"])
    return Task(raw["text"], raw["base"], tuple(MapFiles(*one) for one in raw["maps"]), lent)


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
    lists = {name: tuple(raw[name]) for name in ("maps", "unread")}
    return Request(**{**raw, **lists, "head": Head(**head), "referred": tuple(Wanted(*one) for one in raw["referred"])})
