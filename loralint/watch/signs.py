"""Signs that a run goes wrong, each read from one curve or two; what is usual in runs that end well is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import isfinite, sqrt
from statistics import median
from typing import NamedTuple

from loralint.watch.history import History, Point
from loralint.watch.level import CROSSING, Level

_FROZEN = 5  # entries that show no movement at all
_HIDDEN = 3  # losses of exactly zero in a row
_SCALER = 20  # steps that fp16's loss scaling may skip in a row until it has found its scale
_TREND = 30  # entries that a trend takes
_GROWN = 10.0  # times that gradients have become larger
_WORSE = 3  # evaluations in a row that are worse than the best


class Sign(NamedTuple):
    """kind: as the rules know it. says: what is to be seen, in a clause with its numbers. at: where it begins.

    curve: the one that shows it. lasting: it holds to the end of the log. trained: something was learnt before it.
    """

    kind: str
    says: str
    at: Point
    curve: str
    lasting: bool = True
    trained: bool = True


def signs(history: History) -> Iterator[Sign]:
    """All signs of a log; one that explains another comes alone."""
    broken = list(_not_finite(history))
    yield from broken
    if not any(sign.lasting for sign in broken):
        history = history._replace(loss=tuple(point for point in history.loss if isfinite(point.value)))
        yield from _nothing_trained(history)
        yield from list(_level(history)) or _not_learning(history)
        yield from _growing(history)
    yield from _rate(history)
    yield from _held_out(history)


def _not_finite(history: History) -> Iterator[Sign]:
    for curve, points in (("loss", history.loss), ("held_out", history.held_out)):
        bad = [point for point in points if not isfinite(point.value)]
        if bad:
            name, lasting = history.names[curve], not isfinite(points[-1].value)
            kind = "log-not-finite" if lasting else "log-was-not-finite"
            said = f"{name} is {bad[0].value} " + (_from(bad[0]) if lasting else f"at step {bad[0].step:g}")
            yield Sign(kind, said, bad[0], curve, lasting)
            return
    run = _tail(history.norm, lambda value: not isfinite(value))
    if run and (len(run) >= _SCALER or (len(run) >= _FROZEN and run[-1].step - run[0].step >= 5 * _SCALER)):
        yield Sign("log-not-finite", f"{history.names['norm']} is {run[0].value} {_from(run[0])}", run[0], "norm")
    yield from _hidden(history)


def _hidden(history: History) -> Iterator[Sign]:
    """A loss of exactly 0 after a sizeable one: Transformers logs that for NaN (`logging_nan_inf_filter`)."""
    run = _tail(history.loss, lambda value: value == 0)
    before = history.loss[: len(history.loss) - len(run)]
    if history.rewarded or len(run) < _HIDDEN or not run:
        return
    norms = [point.value for point in history.norm if point.step >= run[0].step]
    dead = bool(norms) and all(value == 0 or not isfinite(value) for value in norms)
    if dead or (before and before[-1].value > 0.1):
        yield Sign("log-loss-zero", f"{history.names['loss']} is exactly 0 {_from(run[0])}", run[0], "loss")


def _nothing_trained(history: History) -> Iterator[Sign]:
    norms, losses = history.norm, history.loss
    if len(norms) >= (_SCALER if history.rewarded else _FROZEN) and not any(point.value for point in norms):
        yield Sign("log-frozen", f"{history.names['norm']} is 0 at every step logged", norms[0], "norm", trained=False)
    elif len(losses) >= _FROZEN and losses[0].value and len({point.value for point in losses}) == 1:
        said = f"{history.names['loss']} is {losses[0].value:.6g} at every step logged"
        yield Sign("log-frozen", said, losses[0], "loss", trained=False)


def _level(history: History) -> Iterator[Sign]:
    """A loss that has left its level and stays away, or came back."""
    if history.rewarded:
        return
    level, since, worst = Level(), None, None
    for point in history.loss:
        level.add(point.value)
        if level.high:
            since = since or point
            worst = point if worst is None or point.value > worst.value else worst
        elif not level.high and since is not None:
            since = None
    if level.broke and level.worse_than_start:  # known since the tenth value
        since = history.loss[1]
    name, spike = history.names.get("loss", ""), _spike(history.loss)
    if since is not None and level.diverged:
        said = f"{name} {level.says()} ({_from(since)})"
        yield Sign("log-diverging", said, since, "loss", trained=not level.worse_than_start)
    elif spike is not None:
        point, before = spike
        said = f"{name} jumps to {point.value:.3g} at step {point.step:g}, from {before:.3g}, and comes back"
        yield Sign("log-spike", said, point, "loss", lasting=False)


def _spike(points: Sequence[Point]) -> tuple[Point, float] | None:
    """The largest loss that stands far above the twenty on either side, and the median of those before it."""
    found: tuple[Point, float] | None = None
    values = [point.value for point in points]
    for at in range(10, len(values) - 1):
        before, after = values[max(0, at - 20) : at], values[at + 1 : at + 21]
        middle = median(before)
        scatter = median(abs(value - middle) for value in before)
        usual = max(*before, *after) + 15 * scatter
        if values[at] > usual and values[at] - middle > max(CROSSING, 2 * abs(middle)):
            found = (points[at], middle) if found is None or values[at] > found[0].value else found
    return found


def _growing(history: History) -> Iterator[Sign]:
    """Gradients that keep growing, from the second fifth of the run (B starts at zero) to the last."""
    values = [point.value for point in history.norm if isfinite(point.value)]
    part = len(values) // 5
    if len(values) < _TREND:
        return
    parts = [median(values[place * part : (place + 1) * part]) for place in range(1, 5)]
    if parts[0] > 0 and parts[-1] >= _GROWN * parts[0] and parts == sorted(parts):
        said = f"{history.names['norm']} grows from {parts[0]:.3g} to {parts[-1]:.3g}"
        yield Sign("log-gradient-growing", said, history.norm[-part], "norm")


def _not_learning(history: History) -> Iterator[Sign]:
    values = [point.value for point in history.loss]
    if history.rewarded or len(values) < _TREND or len(set(values)) == 1 or _young(history):
        return
    first, last = values[: max(_FROZEN, len(values) // 10)], values[-(len(values) // 3) :]
    began, ended = median(first), median(last)
    if ended >= began - max(0.01 * abs(began), min(0.02 * abs(began), 2 * _error(first, last))):
        said = f"{history.names['loss']} is {ended:.3g} in the last third of the log and began at {began:.3g}"
        yield Sign("log-not-learning", said, history.loss[-len(last)], "loss", trained=False)


def _young(history: History) -> bool:
    """Whether less than a third of the run is over, so that it may be warming up."""
    return history.total is not None and history.last < history.total / 3


def _error(first: Sequence[float], last: Sequence[float]) -> float:
    """Standard error of the difference of two medians, from the scatter of neighbours."""
    both = [abs(b - a) for part in (first, last) for a, b in pairwise(part)]
    return 1.25 * sqrt(1 / len(first) + 1 / len(last)) * median(both) if both else 0.0


def _rate(history: History) -> Iterator[Sign]:
    name, rates = history.names.get("rate", ""), history.rate
    run = _tail(rates, lambda value: value == 0)
    if len(run) < _HIDDEN:
        return
    if len(run) == len(rates):
        if not _falls(history.loss):  # the log knows the rate of the first group only, and another may train
            said = f"{name} is 0 at every step logged"
            yield Sign("log-rate-zero", said, run[0], "rate", trained=False)
    elif history.total is not None and run[1].step < 0.95 * history.total:
        said = f"{name} is 0 {_from(run[0])}, of {history.total:g} steps"
        yield Sign("log-rate-zero", said, run[0], "rate")


def _falls(points: Sequence[Point]) -> bool:
    values = [point.value for point in points]
    half = len(values) // 2
    return half >= 2 and median(values[-half:]) < median(values[:half]) - 2 * _error(values[:half], values[-half:])


def _held_out(history: History) -> Iterator[Sign]:
    points = history.held_out
    if len(points) <= _WORSE or not all(isfinite(point.value) for point in points):
        return
    best = min(range(len(points)), key=lambda place: points[place].value)
    after, least = points[best + 1 :], points[best].value
    bar = least + max(0.02, 0.05 * abs(least))
    if len(after) >= _WORSE and all(point.value > bar for point in after[-_WORSE:]):
        last = after[-1].value
        said = f"{history.names['held_out']} is {last:.3g} and was {least:.3g} at step {points[best].step:g}"
        yield Sign("log-eval-rising", said, after[0], "held_out", lasting=last - least > CROSSING)


def _tail(points: Sequence[Point], test: Callable[[float], bool]) -> tuple[Point, ...]:
    """The points at the end of a curve that all pass a test."""
    at = len(points)
    while at and test(points[at - 1].value):
        at -= 1
    return tuple(points[at:])


def _from(point: Point) -> str:
    return f"from step {point.step:g} on"
