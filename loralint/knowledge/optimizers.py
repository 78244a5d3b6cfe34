"""Optimizer spellings of every framework, and what lies behind each."""

from typing import NamedTuple

from loralint.knowledge.data import part


class Optimizer(NamedTuple):
    """What a spelling selects.

    `states` counts state tensors as large as the trained weights (about 0 where factored or low-rank); `state_bits`
    is the width of one entry, None where it follows the weight's dtype. `rounding` is "kahan" or "stochastic" where
    updates smaller than a half bf16 step are not lost. `unit_lr` optimizers find their own step: lr is a factor near 1.
    """

    name: str
    family: str
    states: int | None
    state_bits: int | None
    paged: bool
    fused: bool
    rounding: str | None
    bnb: bool
    unit_lr: bool


def find(name: str, framework: str | None = None) -> Optimizer | None:
    """Find what `name` selects; a framework may give a common spelling a meaning of its own."""
    data = part("optimizers")
    spelling = name.strip().lower()
    index = data["own"].get(framework, {}).get(spelling, data["names"].get(spelling))
    if index is None:
        return None
    row = data["optimizers"][index]
    return Optimizer(
        name=row["name"],
        family=row["family"],
        states=row.get("states"),
        state_bits=row.get("state_bits"),
        paged=row.get("paged", False),
        fused=row.get("fused", False),
        rounding=row.get("rounding"),
        bnb=row.get("bnb", False),
        unit_lr=row.get("unit_lr", False),
    )


def names(framework: str) -> tuple[str, ...]:
    """List what the framework's newest known release accepts; empty where the set is open or not known."""
    return tuple(part("optimizers")["accepted"].get(framework, ()))
