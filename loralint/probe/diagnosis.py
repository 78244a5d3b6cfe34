"""Why a run stands where it does: what the control arms change, as a decision table; no torch here.

Each control is the same ramp with one cause taken away. Its edge has to move by more than chance moves it (a ramp's
step is a factor of 1.4, so twice is two steps) to name that cause. Taking scale away moves the edge like a lower rate
does, so "l2" alone names nothing and is only shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from loralint.probe.ramp import Edge
from loralint.probe.verdict import NOT_LEARNING

_MOVES = 2.0
_FROZEN = 0.5


class _Inputs(Protocol):
    @property
    def worst_ratio(self) -> float: ...
    @property
    def worst_module(self) -> str: ...


class Cause(NamedTuple):
    """name: a word for machines. says: the cause in one clause. change: what to do about it, beside a lower rate."""

    name: str
    says: str
    change: str


def diagnose(
    word: str,
    found: Edge,
    edges: Mapping[str, Edge],
    inputs: Sequence[_Inputs],
    *,
    first_rate: float,
    broken_at: int,
    unmoved: float,
) -> Cause:
    """The cause. first_rate: the ramp's lowest. broken_at: step of the course that was not finite, -1 for none.
    unmoved: share of the course's entries that rounding left as they were.
    """
    moved = {name: one.rate / found.rate >= _MOVES for name, one in edges.items()}
    if 0 <= broken_at <= 1 or moved.get("fp32"):
        return Cause(
            "precision",
            "the format that the adapter is stored in breaks it, not the rate",
            "keep the adapter and the optimizer's state in fp32",
        )
    if found.reached and found.rate <= first_rate:
        return Cause(
            "base", "it breaks at any rate, so the fault is not in the adapter's step", "check the base, data and loss"
        )
    if word == NOT_LEARNING:
        if unmoved > _FROZEN:
            return Cause(
                "rounding",
                f"rounding undoes {unmoved:.0%} of the updates",
                "keep the adapter in fp32, or raise the learning rate",
            )
        return Cause("too-little", "the steps are too few or too small", "raise the learning rate, or train longer")
    return _by_input(moved, inputs)


def _by_input(moved: Mapping[str, bool], inputs: Sequence[_Inputs]) -> Cause:
    worst = max(inputs, key=lambda one: one.worst_ratio, default=None)
    where = worst.worst_module if worst is not None else "one module"
    if moved.get("scale") and not moved.get("module"):
        return Cause(
            "outliers",
            f"single tokens with large inputs push it, most of all in {where}",
            "leave that kind of module out of the targets",
        )
    if moved.get("module") and not moved.get("scale"):
        return Cause(
            "input-scale",
            "some modules have much larger inputs than the rest",
            "lower alpha for those by a pattern",
        )
    return Cause("rate-scale", "learning rate times the adapter's scale is too large", "lower alpha")
