"""What a ramp means: the bands that real runs set, and the word for a run's place among them; no torch here."""

from __future__ import annotations

from math import floor, log10, sqrt
from typing import Any, NamedTuple

from loralint.knowledge.data import part
from loralint.probe.plan import Plan
from loralint.probe.ramp import Edge

STABLE, BORDERLINE, UNSTABLE, NOT_LEARNING = "STABLE", "BORDERLINE", "UNSTABLE", "NOT LEARNING"
_MEASURED = 8  # rows of a step: no real run had more


class Band(NamedTuple):
    """Peak rate over the ramp's rate: up to `stable` runs trained well, from `unstable` on they broke; `edge` is the
    middle, which headroom is counted from. learns: how far (`reach.far`) a run must come, or it stalls. may_stall: how
    far runs of some models came that stalled all the same.
    doubt: why the verdict is only likely, "" where it rests on real runs of this very optimizer.
    """

    stable: float
    edge: float
    unstable: float
    learns: float
    may_stall: float = 0.0
    doubt: str = ""


class Verdict(NamedTuple):
    """word: one of the four. headroom: rate of the edge over the run's (above 1: the run is below it). safe: the
    highest rate that would be called STABLE. exact: the edge was reached, else it lies at least so high.
    certain: no doubt in the band, nor in a start that only other runs had.
    """

    word: str
    headroom: float
    safe: float
    exact: bool
    certain: bool


def band(kind: str, optimizer: str, model: str = "") -> Band:
    """The band of a kind of base model and an optimizer; those without a row there borrow another's. model: the
    catalogue's name of the run's own, for those whose real runs stall elsewhere.
    """
    data: Any = part("probe")
    rows = data["bands"][kind]
    source = optimizer if optimizer in rows else data["borrowed"][optimizer]
    row, doubt = rows[source], rows[source].get("doubt", "")
    if source != optimizer:
        doubt = f"no real run with {optimizer} was held against the ramp of such a model; the band is that of {source}"
    learns = row.get("learns_of", {}).get(model, row["learns"])
    return Band(row["stable"], row["edge"], row["unstable"], learns, row.get("may_stall", 0.0), doubt)


def with_fewer_rows(own: Band, wanted: int, rows: int) -> Band:
    """The band where steps have fewer rows than the run: its edge lies higher, up to the root of their ratio, as far as
    that was measured. By the same root its steps, less noise and more gradient, gain more.
    """
    more = sqrt(wanted / rows)
    return own._replace(
        unstable=own.unstable * max(1.0, min(more, sqrt(_MEASURED / rows))),
        learns=own.learns / more,
        may_stall=own.may_stall / more,
    )


def judge(plan: Plan, found: Edge, own: Band, reached: float | None = None, *, whole: bool) -> Verdict | None:
    """The verdict; None where the ramp was broken off before it could tell. reached: how far the run comes if known."""
    if found.rate <= 0:
        return None
    ratio = plan.arm.lr / found.rate
    if not found.reached and not whole and ratio > own.stable:
        return None
    word = STABLE if ratio <= own.stable else UNSTABLE if ratio >= own.unstable and found.reached else BORDERLINE
    if word == STABLE and reached is not None and reached < own.learns:
        word = NOT_LEARNING
    certain = not own.doubt and plan.arm.init != "svd"
    return Verdict(word, own.edge * found.rate / plan.arm.lr, own.stable * found.rate, found.reached, certain)


def rounded_down(rate: float) -> float:
    """To one digit, as people write rates."""
    unit = 10.0 ** floor(log10(rate))
    return float(f"{floor(rate / unit + 1e-9) * unit:.0e}")
