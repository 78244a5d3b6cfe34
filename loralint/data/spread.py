"""How long the rows of a file are: a histogram in quarter octaves, and the longest few."""

from __future__ import annotations

from heapq import heappush, heapreplace

from loralint.data.tally import Place

_KEPT = 8
# So many times as long as 99 of 100 rows, and long enough to matter.
OUTLYING = 30
_LEAST = 20_000


class Spread:
    """Lengths in characters."""

    __slots__ = ("_buckets", "_rows", "_top")

    def __init__(self) -> None:
        self._buckets = [0] * 256
        self._rows = 0
        self._top: list[tuple[int, int, int]] = []

    def add(self, length: int, number: int, line: int) -> None:
        """One more row."""
        bits = length.bit_length()
        self._buckets[bits * 4 + (length >> (bits - 3) & 3 if bits > 2 else 0)] += 1
        self._rows += 1
        if len(self._top) < _KEPT:
            heappush(self._top, (length, -number, line))
        elif length > self._top[0][0]:
            heapreplace(self._top, (length, -number, line))

    def quantile(self, share: float) -> int:
        """A length that this share of the rows does not exceed, at most a quarter above the least such."""
        left = share * self._rows
        for bucket, count in enumerate(self._buckets):
            left -= count
            if count and left <= 0:
                bits, part = divmod(bucket, 4)
                return ((4 + part + 1) << (bits - 3)) - 1 if bits > 2 else (1 << bits) - 1
        return 0

    def longest(self) -> int:
        """Characters of the longest row."""
        return max((length for length, _, _ in self._top), default=0)

    def outlying(self) -> list[Place]:
        """Rows that are far longer than nearly all others, of the longest few, in the order of the file."""
        bound = max(_LEAST, OUTLYING * self.quantile(0.99))
        places = [Place(-number, line) for length, number, line in self._top if length > bound]
        return sorted(places)
