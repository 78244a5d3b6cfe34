"""The golden list against the run: each value on its range, with the zones that its bounds make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from loralint.knowledge.data import part
from loralint.model import Setting, Table
from loralint.render.golden_page import fine, recommended
from loralint.render.html.scale import Scale, fitted
from loralint.source.shown import shown

WIDTH = 300
_WORST = ("S", "A", "B", "note")
_FAR = 1000.0  # times beyond all limits, where a value is drawn at the end of the axis
_CLOSE = 42  # in the drawing
_LOWER, _UPPER = ("below", "at_most"), ("above", "at_least")


class Zone(NamedTuple):
    """A stretch of the axis: its start and width in the drawing, and the tier that counts there, or fine."""

    x: float
    width: float
    kind: str


class Gauge(NamedTuple):
    """One value beside its entry. kind: fine, the tier of the bound that it breaks, or outside (of what is usual).

    scale: None where the entry is no range, or the value no number.
    """

    parameter: str
    title: str
    key: str
    value: str
    number: float | None
    entry: str
    fine: str
    recommended: str
    evidence: str
    kind: str
    then: str
    scale: Scale | None = None
    zones: tuple[Zone, ...] = ()
    at: float = 0.0
    best: float | None = None
    marks: tuple[tuple[float, str], ...] = ()


def gauges(table: Table) -> list[Gauge]:
    """Those of the run, the worst first."""
    hot: Any = part("golden")
    rows = [(setting, entry) for setting, entry, _ in table.rows if entry and isinstance(setting, Setting)]
    cold: Any = part("golden_cold")
    known = {one["id"]: one for every in hot.values() for one in every}
    found = [_gauge(one, known[entry], cold[one.parameter]) for one, entry in rows if entry in known]
    order = (*_WORST, "outside", "fine")
    return sorted(found, key=lambda one: (order.index(one.kind), one.scale is None))


def unplaced(table: Table) -> list[tuple[str, list[str]]]:
    """Reasons why values were not held against the list, each with the parameters."""
    found: dict[str, list[str]] = {}
    for setting, _, reason in table.rows:
        if reason and isinstance(setting, Setting):
            found.setdefault(str(reason), []).append(setting.parameter)
    return list(found.items())


def _gauge(setting: Setting, entry: Mapping[str, Any], cold: Mapping[str, Any]) -> Gauge:
    value = setting.value.value
    kind, then = _judged(value, entry)
    plain = Gauge(
        setting.parameter, cold["title"], setting.value.key, shown(value, 80) + _unit(value, cold), None,
        entry["name"], _usual(entry),
        recommended(entry), entry["evidence"], kind, then,
    )  # fmt: skip
    number = _number(value)
    if entry["range"] is None or number is None:
        return plain
    scale = _scale(number, entry)
    best = entry.get("recommended")
    return plain._replace(
        number=number,
        scale=scale,
        zones=tuple(_zones(entry, scale)),
        at=scale.at(number),
        best=scale.at(best) if isinstance(best, (int, float)) else None,
        marks=_marks(entry["range"], scale),
    )


def _number(value: object) -> float | None:
    """A number that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _unit(value: object, cold: Mapping[str, Any]) -> str:
    unit = cold.get("unit") or ""
    return f" {unit.removesuffix('s') if value == 1 else unit}" if unit else ""


def _usual(entry: Mapping[str, Any]) -> str:
    """What is fine, without values that are spelt alike."""
    return fine(entry) if entry["range"] else ", ".join(dict.fromkeys(map(shown, entry["set"])))


def _marks(ends: Sequence[float], scale: Scale) -> tuple[tuple[float, str], ...]:
    """Labels of both ends of the range; one for both where they lie close together."""
    low, high = (scale.at(one) for one in ends)
    if high - low < _CLOSE:
        return (((low + high) / 2, f"{shown(ends[0])} to {shown(ends[1])}"),)
    return ((low, shown(ends[0])), (high, shown(ends[1])))


def _judged(value: object, entry: Mapping[str, Any]) -> tuple[str, str]:
    broken = [(bound["tier"], bound["then"]) for bound in entry["bounds"] if _breaks(value, bound)]
    if broken:
        return min(broken, key=lambda one: _WORST.index(one[0]))
    if entry["range"] is None:
        listed = value if isinstance(value, (list, tuple)) else [value]
        return ("fine" if all(one in entry["set"] for one in listed) else "outside"), ""
    inside = isinstance(value, (int, float)) and entry["range"][0] <= value <= entry["range"][1]
    return ("fine" if inside else "outside"), ""


def _breaks(value: object, bound: Mapping[str, Any]) -> bool:
    if "is" in bound:
        return bool(value == bound["is"]) and isinstance(value, bool) == isinstance(bound["is"], bool)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return any(
        (side == "above" and value > bound[side])
        or (side == "at_least" and value >= bound[side])
        or (side == "below" and value < bound[side])
        or (side == "at_most" and value <= bound[side])
        for side in (*_LOWER, *_UPPER)
        if side in bound
    )


def _limits(entry: Mapping[str, Any], sides: tuple[str, ...]) -> list[tuple[float, str]]:
    """(limit, tier) on one side, the outermost last."""
    found = [(float(bound[side]), bound["tier"]) for bound in entry["bounds"] for side in sides if side in bound]
    return sorted(found, reverse=sides is _LOWER)


def _scale(value: float, entry: Mapping[str, Any]) -> Scale:
    """An axis with the range and all limits; of a value far beyond them the end of the axis."""
    low, high = entry["range"]
    every = [float(low), float(high), *(limit for limit, _ in (*_limits(entry, _LOWER), *_limits(entry, _UPPER)))]
    log = low > 0 and max(every) / low >= 10
    if log:
        every = [one for one in every if one > 0]
        value = min(max(value, min(every) / _FAR), max(every) * _FAR)
        return fitted([*every, value], 0, WIDTH, log=True)
    reach = max(every) - min(*every, 0) or 1.0
    return fitted([*every, min(max(value, min(every) - reach), max(every) + reach)], 0, WIDTH, log=False)


def _zones(entry: Mapping[str, Any], scale: Scale) -> Iterator[Zone]:
    low, high = (scale.at(one) for one in entry["range"])
    yield Zone(low, round(max(high - low, 2), 1), "fine")
    for sides, edge in ((_LOWER, scale.start), (_UPPER, scale.end)):
        limits = _limits(entry, sides)
        for (limit, tier), (outer, _) in zip(limits, [*limits[1:], (None, "")], strict=False):
            ends = sorted((scale.at(limit), edge if outer is None else scale.at(outer)))
            if ends[1] > ends[0]:
                yield Zone(ends[0], round(ends[1] - ends[0], 1), tier)
