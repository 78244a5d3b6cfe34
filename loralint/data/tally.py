"""Counts of what was found: how many rows, and the numbers of the first few."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from loralint.data.row import Row

SHOWN = 5
_DETAILS = 64  # distinct ones that are counted; a hostile file could bring a million


class Place(NamedTuple):
    """A row of a file."""

    number: int
    line: int


class Count:
    """One kind of fault in one file. details: how often each reason or name was met."""

    __slots__ = ("details", "first", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self.first: list[Place] = []
        self.details: Counter[str] = Counter()


class Tally:
    """All faults of one file, by kind and field; a row counts once for each."""

    __slots__ = ("_seen", "counts")

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], Count] = {}
        self._seen: set[tuple[str, str]] = set()

    def next_row(self) -> None:
        """Another row starts."""
        if self._seen:
            self._seen.clear()

    def add(self, kind: str, row: Row, field: str = "", detail: str = "") -> None:
        """The row has a fault; field: where, as far as it can be told."""
        key = (kind, field)
        if key in self._seen:
            return
        self._seen.add(key)
        count = self.counts.get(key)
        if count is None:
            count = self.counts[key] = Count()
        count.rows += 1
        if len(count.first) < SHOWN:
            count.first.append(Place(row.number, row.line))
        if detail and (detail in count.details or len(count.details) < _DETAILS):
            count.details[detail] += 1
