"""A run, and a report, as the template shows them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, TypeGuard

from loralint.model import TIERS, Report, Run, Table
from loralint.render.html.block import Coverage, coverage
from loralint.render.html.chart import Chart, chart
from loralint.render.html.golden import Gauge, gauges, unplaced
from loralint.render.html.memory import Bar, bar
from loralint.render.html.probe import Measured, measured
from loralint.render.html.step import Plane, plane
from loralint.render.html.told import Row, Told, by_tier, information, settings, told, unchecked
from loralint.source.shown import path, shown

_HEADS = {"S": "These break the run", "A": "Have a second person look", "B": "Mend in passing"}
_EMPTY = Table("", "", (), ())


class View(NamedTuple):
    """One run. found: (tier, its headline, findings). unknown: figure -> why it is not drawn."""

    number: int
    name: str
    files: list[str]
    framework: str
    recognised_by: str
    score: int
    verdict: str
    sentence: str
    tiers: Counter[str]
    worst: str
    found: list[tuple[str, str, list[Told]]]
    lifted: list[Told]
    gauges: list[Gauge]
    unplaced: list[tuple[str, list[str]]]
    plane: Plane | None
    rate: Chart | None
    coverage: Coverage | None
    memory: Bar | None
    unknown: dict[str, str]
    probe: Measured | None
    written: list[Row]
    defaults: list[Row]
    unchecked: list[tuple[str, tuple[str, ...]]]
    notes: list[str]


def view(run: Run, number: int, report: Report) -> View:
    """number: of the run in the report, from 1."""
    figures = {one.name: one for one in run.figures}
    standing = [told(one, report) for one in by_tier(run.findings) if one.suppressed is None]
    tiers = Counter(one.tier for one in standing)
    golden = figures.get("golden", _EMPTY)
    values = gauges(golden)
    written, defaults = settings(run)
    return View(
        number,
        path(run.files[0]),
        [path(one) for one in run.files[1:]],
        shown(run.framework or "no training config"),
        shown(run.recognised_by),
        run.score,
        run.verdict,
        _sentence(run.verdict, standing, tiers),
        tiers,
        standing[0].effect if standing else "",
        [(tier, _HEADS[tier], some) for tier in TIERS if (some := [one for one in standing if one.tier == tier])],
        [told(one, report) for one in by_tier(run.findings) if one.suppressed is not None],
        values,
        unplaced(golden),
        plane(values),
        _rate(figures.get("schedule", _EMPTY)),
        coverage(figures.get("targets", _EMPTY)),
        bar(figures.get("memory", _EMPTY)),
        {name: _unknown(figures.get(name, _EMPTY)) for name in ("schedule", "targets", "memory")},
        measured(run),
        written,
        defaults,
        unchecked(run.notes),
        information(run.notes),
    )


def _sentence(verdict: str, standing: list[Told], tiers: Counter[str]) -> str:
    """What to do with the run."""
    if verdict == "pass":
        small = tiers["B"]
        more = f"; {small} small {'things' if small > 1 else 'thing'} to mend in passing" if small else ""
        return f"No fault was found that stops or spoils this run{more}."
    effect = standing[0].effect.rstrip(".") if standing else ""
    effect = effect[:1].lower() + effect[1:]
    if verdict == "block":
        return f"Do not start this run as it is: {effect}."
    return f"Have a second person look before it starts: {effect}."


def _unknown(table: Table) -> str:
    """Why a figure has nothing to draw."""
    return "" if table.rows else shown(table.title, 400)


def _rate(table: Table) -> Chart | None:
    points: list[tuple[float, float]] = [(step, rate) for step, rate in table.rows if _number(step) and _number(rate)]
    if len(points) < 2:
        return None
    peak = max(rate for _, rate in points)
    at = next(step for step, rate in points if rate == peak)
    rises = points[0][1] < peak
    end = "it does not fall" if points[-1][1] == peak else f"it ends at {shown(points[-1][1])}"
    said = f"{points[-1][0]:,.0f} steps; the highest rate is {shown(peak)}"
    said += f" at step {at:,.0f}, where warm-up ends; {end}." if rises else f"; {end}."
    if rises and at == points[-1][0]:
        said = f"{at:,.0f} steps, and warm-up lasts as long: the rate only reaches {shown(peak)}."
    return chart(
        "Learning rate over the run", "step", "learning rate", points, zero=True, said=said, until=at if rises else None
    )


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
