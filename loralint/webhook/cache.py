"""Verdicts of what was judged before: controllers and GitOps send the same object again and again."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

from loralint.webhook.judging import Judged, Task

_MOST = 2000
# Verdicts with more are rare and large.
_MOST_FINDINGS = 20


class Cache:
    """Keeps digests of objects and what was said of them; of the objects themselves nothing."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Judged] = OrderedDict()

    def get(self, digest: bytes) -> Judged | None:
        """What was said of an object."""
        found = self._kept.get(digest)
        if found is not None:
            self._kept.move_to_end(digest)
        return found

    def put(self, digest: bytes, judged: Judged) -> None:
        """Remember a verdict; the one that nobody asked for longest goes."""
        if len(judged.findings) <= _MOST_FINDINGS:
            self._kept[digest] = judged
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)


def digest(task: Task) -> bytes:
    """What tells tasks apart."""
    made = blake2b(digest_size=16)
    parts = [task.text, task.base]
    for one in task.maps:
        parts += [one.name, f"{one.whole} {len(one.data)}", *(part for pair in one.data.items() for part in pair)]
    parts += [part for one in task.lent for part in (one.what, one.text)]
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        made.update(b"%d:" % len(raw))
        made.update(raw)
    return made.digest()
