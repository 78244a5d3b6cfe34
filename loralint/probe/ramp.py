"""The test that tells most: one run whose rate rises from harmless to fatal, and where its loss leaves the base's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# First and last rate by optimizer. Adam's steps are as large as the rate, Lion's too; those of SGD follow the gradient.
_RANGES = {"adamw": (1e-5, 1.0), "adafactor": (1e-5, 1.0), "lion": (1e-6, 0.1), "sgd": (1e-4, 1e3)}
STEPS = 36
CROSSING = 1.0  # nats above the frozen base on the same batch


class Edge(NamedTuple):
    """The rate at which the loss first stood `CROSSING` nats above the base's, between two steps by the losses at both.

    reached: False where that never happened up to `rate`, the last one tried.
    """

    rate: float
    reached: bool


def ramp(optimizer: str, steps: int = STEPS) -> list[float]:
    """Rates of A in a geometric row."""
    first, last = _RANGES[optimizer]
    return [first * (last / first) ** (step / max(1, steps - 1)) for step in range(steps)]


def edge(rates: Sequence[float], losses: Sequence[float], above: float = CROSSING) -> Edge:
    """Where the losses (less the base's, nats) first cross. With nothing tried the edge is at 0 and not reached.

    A loss that is not finite (inf) counts as crossing at the step before it.
    """
    for step, loss in enumerate(losses):
        if loss > above:
            last = max(0, step - 1)
            share = (above - losses[last]) / (loss - losses[last]) if step else 0.0
            return Edge(rates[last] * (rates[step] / rates[last]) ** share, reached=True)
    return Edge(rates[len(losses) - 1] if losses else 0.0, reached=False)
