"""Rows that are nearly the same, by datasketch's MinHash, which comes with the extra `data`.

Texts are compared by their sets of words without those that many rows share, or rows with the same long instruction
would all look alike. Of many rows a sample is compared, chosen by the text around the word with the least hash: two
rows with the Jaccard index j share that word with the chance j, so that near copies are mostly in the sample together
or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import filterfalse
from typing import Any, NamedTuple
from zlib import crc32

MISSING = "near copies are found with datasketch, which the extra loralint[data] brings"
THRESHOLD = 0.85
COMPARED = 20_000
_FIRST = 1_000  # rows that tell which words are common
_COMMON = 0.05  # share of those rows from which on a word is common
_LEAST = 12  # words of its own without which a row says too little
_LENGTH = 8_192  # bytes of a row that are compared
_HEAD = 160  # bytes of it that decide whether it is in the sample
_PERMUTATIONS = 64


class Pair(NamedTuple):
    """Two rows by the places that were handed in, the earlier first."""

    earlier: int
    later: int


class Near:
    """Takes rows one by one; `pairs` ends it. expected: how many will come, which settles the sample.

    compared: how many of them were compared. datasketch, which takes a second to load, is loaded for the first of them.
    """

    __slots__ = ("_common", "_empty", "_first", "_index", "_kept", "_mask", "_pairs", "compared")

    def __init__(self, expected: int) -> None:
        self._empty: Any = None
        self._index: Any = None
        self._kept: dict[int, Any] = {}
        self._first: list[tuple[bytes, int]] | None = []
        self._common: frozenset[bytes] = frozenset()
        self._mask = (1 << (expected // COMPARED).bit_length() >> 1) - 1 if expected > COMPARED else 0
        self._pairs: list[Pair] = []
        self.compared = 0

    def add(self, data: bytes, place: int) -> None:
        """Take a row's text and where it stands."""
        if self._first is None:
            self._sift(data, place)
            return
        self._first.append((data[:_LENGTH], place))
        if len(self._first) >= _FIRST:
            self._learn()

    def pairs(self) -> list[Pair]:
        """Each row that is nearly an earlier one, once."""
        self._learn()
        return self._pairs

    def _learn(self) -> None:
        """Settle which words are common, and compare the rows that waited for it."""
        waiting, self._first = self._first or [], None
        counts = Counter(word for data, _ in waiting for word in _words(data, _LENGTH))
        least = max(3, len(waiting) * _COMMON)
        self._common = frozenset(word for word, count in counts.items() if count > least)
        for data, place in waiting:
            self._sift(data, place)

    def _sift(self, data: bytes, place: int) -> None:
        """Compare the row if it is in the sample and has enough to say."""
        if self._mask:
            mark = self._mark(data[:_HEAD].lower())
            if mark is None:  # a long instruction that many rows share
                mark = self._mark(data[:_LENGTH].lower())
            if mark is None or mark & self._mask:
                return
        own = _words(data, _LENGTH) - self._common
        if len(own) >= _LEAST and self.compared < 2 * COMPARED:
            self._compare(own, place)

    def _mark(self, text: bytes) -> int | None:
        """A hash of the text around the word with the least hash, for the words alone bring too few different ones."""
        word = min(filterfalse(self._common.__contains__, text.split()), key=crc32, default=None)
        if word is None:
            return None
        at = text.find(word)
        return crc32(text[max(0, at - 16) : at + 32])

    def _compare(self, own: frozenset[bytes], place: int) -> None:
        if self._index is None:
            self._open()
        self.compared += 1
        sketch = self._empty.copy()  # to draw the permutations anew would be most of the time
        sketch.update_batch(list(own))
        nearest = min(self._alike(sketch), default=None)
        if nearest is not None:
            self._pairs.append(Pair(nearest, place))
        self._index.insert(place, sketch, check_duplication=False)
        self._kept[place] = sketch

    def _open(self) -> None:
        from datasketch import MinHash, MinHashLSH

        self._empty = MinHash(num_perm=_PERMUTATIONS, hashfunc=crc32)
        self._index = MinHashLSH(threshold=THRESHOLD, num_perm=_PERMUTATIONS)

    def _alike(self, sketch: Any) -> Iterator[int]:
        for place in self._index.query(sketch):
            if sketch.jaccard(self._kept[place]) >= THRESHOLD:
                yield place


def _words(data: bytes, length: int) -> frozenset[bytes]:
    return frozenset(data[:length].lower().split())
