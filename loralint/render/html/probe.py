"""What micro-training a run showed: its curves and tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from loralint.model import Run, Series, Table
from loralint.render.html.chart import Chart, Mark, chart
from loralint.render.standing import probe_said
from loralint.source.shown import shown

_TITLES = {
    "ramp": "The ramp: loss as the rate rises",
    "course": "The run's own schedule: loss",
    "gradient": "Norm of the gradient",
    "update": "Update over weight",
}
_MOST = 400  # characters of a title
_ROWS = 60
_HIGHEST = 4.0  # nats; the ramp breaks at 1, and a loss that explodes would hide it
_BEYOND = 100.0  # times the ramp's rates, to which a mark stretches the picture
_SOONER = "A ramp is at each rate for one step only, so a run breaks at a lower one, which is the edge."


class Measured(NamedTuple):
    """headline: the verdict in a sentence. facts: the numbers behind it. tables: the others."""

    headline: str
    facts: list[tuple[str, str]]
    charts: list[Chart]
    tables: list[Table]


def measured(run: Run) -> Measured | None:
    """None for a run that nobody asked to probe."""
    said = probe_said(run)
    if not (said or run.tables or run.series):
        return None
    verdict = next((one for one in run.tables if one.name == "verdict"), None)
    rows = {str(row[0]): row[1] for row in verdict.rows} if verdict else {}
    return Measured(
        shown(said, _MOST),
        [(name.replace("_", " "), shown(value)) for name, value in rows.items() if value is not None],
        [one for one in (_drawn(series, rows) for series in run.series) if one is not None],
        [_worded(one) for one in run.tables if one.name != "verdict"],
    )


def _drawn(series: Series, rows: dict[str, object]) -> Chart | None:
    ramp = series.name == "ramp"
    marks = tuple(_marks(rows, series)) if ramp and series.points else ()  # none where no step was taken
    title = _TITLES.get(series.name, shown(series.name))
    losses = series.name in ("ramp", "course")
    most = max(_HIGHEST, min((y for _, y in series.points if y is not None), default=0.0)) if losses else inf
    above = any(y is not None and y > most for _, y in series.points)
    said = [f"Values above {most:g} are drawn at the top."] if above else []
    said += _ended(series, rows) if losses else []
    said += [_SOONER] if any(one.kind == "breaks" for one in marks) else []
    spoken = " ".join(said)
    return chart(title, shown(series.x), shown(series.y), series.points, log=ramp, marks=marks, said=spoken, most=most)


def _ended(series: Series, rows: dict[str, object]) -> list[str]:
    """Why a curve has fewer steps than the probe."""
    made, steps = len(series.points), rows.get("steps")
    if not isinstance(steps, int) or made >= steps:
        return []
    return [f"Ended after {made} of {steps} steps, since the loss stood far above the base's."]


def _marks(rows: dict[str, object], series: Series) -> Iterator[Mark]:
    """The run's rate, the edge that the verdict speaks of, and where the ramp itself breaks, which lies higher."""
    lowest, highest = series.points[0][0] / _BEYOND, series.points[-1][0] * _BEYOND
    edge = "edge" if rows.get("edge_reached") else "edge, or beyond"
    breaks = (("ramp_edge_rate", "ramp breaks", "breaks"),) if rows.get("ramp_edge_reached") else ()
    for name, label, kind in (("rate", "this run", "run"), ("edge_rate", edge, "edge"), *breaks):
        at = rows.get(name)
        if isinstance(at, (int, float)) and lowest <= at <= highest:
            yield Mark(float(at), label, kind)


def _worded(table: Table) -> Table:
    rows = tuple(tuple(shown(cell) for cell in row) for row in table.rows[:_ROWS])
    if table.columns[0] == "what":
        rows = tuple((row[0].replace("_", " "), *row[1:]) for row in rows)
    return table._replace(title=shown(table.title, _MOST), rows=rows)
