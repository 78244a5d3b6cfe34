"""Rows that are the same: a 64-bit hash of each text, in a table whose size is bounded."""

from __future__ import annotations

from hashlib import blake2b

# About 110 MB. When it is full, every other hash goes, told by its bits, so that copies still meet.
ENTRIES = 1_100_000


def digest(data: bytes) -> int:
    """64 bits; two different rows of a million share one with a chance of 1 in 40 million."""
    return int.from_bytes(blake2b(data, digest_size=8).digest())


class Table:
    """Hash -> place of the first row that had it. `compared` counts the rows that could be looked up."""

    __slots__ = ("_limit", "_mask", "_places", "compared")

    def __init__(self, limit: int = ENTRIES) -> None:
        self._places: dict[int, int] = {}
        self._limit = limit
        self._mask = 0
        self.compared = 0

    def meet(self, key: int, place: int) -> int | None:
        """The place of an earlier row with this hash, or None after this one was entered."""
        if key & self._mask:
            return None
        self.compared += 1
        found = self._places.setdefault(key, place)
        if found != place:
            return found
        if len(self._places) > self._limit:
            self._halve()
        return None

    def find(self, key: int) -> int | None:
        """The place of a row with this hash, without entering one."""
        return self._places.get(key)

    def covers(self, key: int) -> bool:
        """Whether a row with this hash would have been kept."""
        return not key & self._mask

    def _halve(self) -> None:
        self._mask = self._mask * 2 + 1
        self._places = {key: place for key, place in self._places.items() if not key & self._mask}
