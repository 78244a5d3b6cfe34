"""What every log comes down to: four curves over steps, and how long the run is to be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

# Names that trainers, TensorBoard and W&B give the curves; of those that a log has, the first counts. `train_loss` is
# late since Transformers gives that name to the mean of the whole run.
_NAMES = {
    "loss": ("loss", "train/loss", "training_loss", "train_loss", "train/train_loss"),
    "norm": ("grad_norm", "train/grad_norm", "train/gradient_norm", "gradient_norm", "train_grad_norm"),
    "rate": ("learning_rate", "train/learning_rate", "lr", "train/lr", "train_learning_rate"),
    "held_out": ("eval_loss", "eval/loss", "val_loss", "val/loss", "validation_loss", "valid_loss"),
}
_STEPS = (
    "train/global_step", "global_step", "step", "current_steps", "_step", "iteration", "iter", "global_step/max_steps",
)  # fmt: skip
_TOTALS = ("max_steps", "total_steps")
# Curves that only reinforcement learning logs; its loss starts at zero and says nothing of how the run goes.
_OF_REWARDS = ("reward", "train/reward", "completion_length", "train/completion_length")
_OF_ROLLOUTS = ("objective/", "train/objective/", "completions/", "train/completions/")


class Record(NamedTuple):
    """One entry of a log. line: where it stands, from 1."""

    values: Mapping[str, object]
    line: int = 1


class Point(NamedTuple):
    """A value that was logged. step: of the optimizer; the number of the entry where the log names none."""

    step: float
    value: float
    line: int = 1


class History(NamedTuple):
    """The curves of one run. title: what wrote the log. names: of the curves that are there, as the log has them.

    total: steps of the whole run, None where the log does not say. last: the last step logged. rewarded: it is
    reinforcement learning. notes: what of the log could not be read, or was passed over.
    """

    file: str
    title: str
    names: Mapping[str, str]
    loss: tuple[Point, ...]
    norm: tuple[Point, ...]
    rate: tuple[Point, ...]
    held_out: tuple[Point, ...]
    total: float | None = None
    last: float = 0.0
    rewarded: bool = False
    notes: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether the last step of the run is logged."""
        return self.total is not None and 0 < self.total <= self.last


def history(
    file: str, title: str, records: Iterable[Record], total: float | None = None, notes: Sequence[str] = ()
) -> History:
    """The curves of a log. What was logged again, since a run went on from a checkpoint, replaces what stood there."""
    entries = list(records)
    keys = {key: plain(key) for key in dict.fromkeys(key for entry in entries for key in entry.values)}
    names = {curve: name for curve, wanted in _NAMES.items() if (name := _first(keys, wanted))}
    step = _first(keys, _STEPS)
    curves: dict[str, list[Point]] = {curve: [] for curve in _NAMES}
    last = 0.0
    for count, entry in enumerate(entries, 1):
        at = _step(entry.values.get(step)) if step else float(count)
        if at is None:
            continue
        last = at
        for curve, name in names.items():
            value = number(entry.values.get(name))
            if value is not None:
                _put(curves[curve], Point(at, value, entry.line))
    total = total or _total(entries, keys, step)
    rewards = [key for key, said in keys.items() if said in _OF_REWARDS or said.startswith(_OF_ROLLOUTS)]
    rewarded = any(number(entry.values.get(key)) is not None for key in rewards for entry in entries)
    loss, norm, rate, held_out = (tuple(points) for points in curves.values())
    told = (*notes, *_others(keys, names))
    return History(file, title, names, loss, norm, rate, held_out, total, last, rewarded, told)


def plain(key: str) -> str:
    """A column's name without the run's, which W&B's exports put before it: `brave-fox-3 - train/loss`."""
    return key.rpartition(" - ")[2].strip().lower()


def number(value: object) -> float | None:
    """A number, also one that is written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _first(keys: Mapping[str, str], wanted: Iterable[str]) -> str:
    """The first key whose plain name is wanted, in the order of what is wanted; empty for none."""
    return next((key for name in wanted for key, said in keys.items() if said == name), "")


def _others(keys: Mapping[str, str], names: Mapping[str, str]) -> list[str]:
    """A note where an export holds several runs."""
    loss = names.get("loss", "")
    several = [key for key, said in keys.items() if loss and said == plain(loss)]
    return [f"{len(several)} runs stand in one file; looked at: {loss}"] if len(several) > 1 else []


def _step(value: object) -> float | None:
    """12, "12" or "12/500"."""
    found = number(value.partition("/")[0] if isinstance(value, str) else value)
    return found if found is not None and math.isfinite(found) else None


def _total(entries: Sequence[Record], keys: Mapping[str, str], step: str) -> float | None:
    name = _first(keys, _TOTALS)
    for entry in reversed(entries):
        said = entry.values.get(step)
        value = entry.values.get(name) if name else said.partition("/")[2] if isinstance(said, str) else None
        if (found := number(value)) is not None and found > 0:
            return found
    return None


def _put(points: list[Point], point: Point) -> None:
    while points and points[-1].step >= point.step:
        points.pop()
    points.append(point)
