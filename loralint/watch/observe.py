"""Signs as observations that rules judge, and the curves as a report shows them."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from loralint.model import Note, Observation, Probed, Series, Span, Table, Value
from loralint.watch.history import History, Point
from loralint.watch.signs import Sign, signs

_UNITS = {"loss": "training loss", "norm": "gradient norm", "rate": "learning rate", "held_out": "held-out loss"}
_REWARDED = "it is reinforcement learning, whose loss starts at zero and says nothing of how the run goes"


def observe(history: History) -> Probed:
    """Everything that a log shows."""
    notes = [Note("not-checked", note) for note in history.notes]
    if history.rewarded:
        notes.append(Note("not-checked", f"the loss: {_REWARDED}"))
    missing = [_UNITS[curve] for curve in ("loss", "norm") if not _of(history, curve)]
    notes += [Note("not-checked", f"no {name} is logged") for name in missing]
    found = tuple(_observation(sign, history) for sign in signs(history))
    return Probed(found, tuple(notes), (_table(history),), tuple(_series(history)))


def _observation(sign: Sign, history: History) -> Observation:
    line = sign.at.line
    span = Span(history.file, 0, 0, line, 1, line, 1)
    value = Value(sign.at.value, key=history.names[sign.curve], span=span)
    data = {"lasting": sign.lasting, "trained": sign.trained, "step": sign.at.step, "curve": sign.curve}
    return Observation(sign.kind, value, "changed", sign.says, data=data)


def _of(history: History, curve: str) -> tuple[Point, ...]:
    points: tuple[Point, ...] = getattr(history, curve)
    return points


def _table(history: History) -> Table:
    rows = tuple(_row(history, curve) for curve in _UNITS if _of(history, curve))
    of = f" of {history.total:g}" if history.total else ""
    said = ", ".join(f"{name} {_short(first)} to {_short(last)}" for name, _, first, _, _, last in rows)
    title = f"{history.title} to step {history.last:g}{of}: {said}"
    return Table("log", title, ("curve", "entries", "first", "least", "most", "last"), rows)


def _row(history: History, curve: str) -> tuple[str, int, float, float, float, float]:
    values = [point.value for point in _of(history, curve)]
    sound = [value for value in values if isfinite(value)] or values
    return history.names[curve], len(values), values[0], min(sound), max(sound), values[-1]


def _short(value: float) -> str:
    return f"{value:.3g}"


def _series(history: History) -> Iterator[Series]:
    for curve, unit in _UNITS.items():
        points = _of(history, curve)
        if points:
            yield Series(history.names[curve], "step", unit, tuple(map(_drawn, points)))


def _drawn(point: Point) -> tuple[float, float | None]:
    return point.step, point.value if isfinite(point.value) else None
