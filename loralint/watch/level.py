"""Where a loss stands against where the run began and against the best that it reached, one value after the other.

The probe's bands rest on a loss that stands one nat above the frozen base's. A log has no frozen base, but LoRA begins
at it: B is zero, so the first loss is the base's.
"""

from __future__ import annotations

from collections import deque
from math import inf
from statistics import median, median_low

CROSSING = 1.0  # nats; where a loss is far smaller than that, as in diffusion, three times the first value
_RECENT = 5  # values whose median is "now", so that one odd batch is not
_EARLY = 2 * _RECENT  # values among which a run shows that it broke at once
_LASTING = 3  # times in a row that the median stands high; it takes five values, three of them high, to begin with
_STEADY = 100  # falls from one value to the next, whose median is what neighbours scatter; a blow-up has few
_KNOWN = 4  # falls; of fewer the largest counts
_FEWEST = 3


class Level:
    """Fed by `add`. now: median of the last values. start: of the first few, or the first if it broke at once.

    broke: no value after the first came near it. best: the least median so far. worse_than_start, worse_than_best: it
    stands high, for how many values in a row.
    """

    __slots__ = (
        "_falls", "_first", "_last", "_least", "_recent",
        "best", "broke", "now", "seen", "start", "worse_than_best", "worse_than_start",
    )  # fmt: skip

    def __init__(self) -> None:
        self.seen = 0
        self.now = self.start = self.best = 0.0
        self.worse_than_start = self.worse_than_best = 0
        self._first = self._last = 0.0
        self._least = inf  # after the first
        self.broke = False
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._falls: deque[float] = deque(maxlen=_STEADY)

    @property
    def high(self) -> bool:
        """Whether it stands high now; a checkpoint that is written now may hold a broken adapter."""
        return bool(self.worse_than_start or self.worse_than_best)

    @property
    def diverged(self) -> bool:
        """Whether it has stood high for so long that no odd batch explains it."""
        return max(self.worse_than_start, self.worse_than_best) >= _LASTING

    def says(self) -> str:
        """Where it stands, for a sentence that begins with the name of the loss."""
        against = f"it began at {self.start:.3g}" if self.worse_than_start else f"its best was {self.best:.3g}"
        return f"stands at {self.now:.3g}, and {against}"

    def add(self, value: float) -> None:
        """One more loss, which must be finite."""
        self.seen += 1
        self._recent.append(value)
        self.now = median_low(self._recent)
        if self.seen == 1:
            self._first = value
        else:
            self._least = min(self._least, value)
        if self.seen > 1 and value < self._last:
            self._falls.append(self._last - value)
        if self.seen <= _RECENT:
            self.start = self.now
        self._last = value
        self._judge()
        self.best = self.now if self.seen <= _RECENT else min(self.best, self.now)

    def _judge(self) -> None:
        if self.seen < _FEWEST:
            return
        scatter = (median if len(self._falls) >= _KNOWN else max)(self._falls or (0.0,))
        if self.seen <= _EARLY and self.now - self._first > 2 * _bar(self._first, scatter):  # it broke at once
            self.start = min(self.start, self._first)
        if self.seen == _EARLY and self._least - self._first > _far(self._first):
            # No value came back: such falls are no scatter of neighbours but the blow-up's own.
            self.start, self.broke = min(self.start, self._first), True
        high = self.now - self.start > _bar(self.start, scatter)
        high = high or (self.broke and self.now - self.start > _far(self.start))
        above_best = max(CROSSING, 0.5 * abs(self.best), 0.25 * abs(self.start), 5 * scatter)
        self.worse_than_start = self.worse_than_start + 1 if high else 0
        known = self.seen > _RECENT
        self.worse_than_best = self.worse_than_best + 1 if known and self.now - self.best > above_best else 0


def _bar(start: float, scatter: float) -> float:
    """What a loss may rise above where it began."""
    size = abs(start)
    return max(min(CROSSING, 2 * size) if size else CROSSING, 0.25 * size, 3 * scatter)


def _far(start: float) -> float:
    """What no scatter explains of all values, as the probe takes an arm for hopeless."""
    size = abs(start)
    return max(3 * (min(CROSSING, 2 * size) if size else CROSSING), 0.5 * size)
